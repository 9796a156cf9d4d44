package understudy.api.media;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import understudy.settings.Section;

/** The section {@code server.multimodal}. */
public final class MultimodalSettings {
    private static final String AUTO = "auto";
    private static final String PROCESSOR = "processor";
    private static final int MAX_SIDE = 65_535;
    private static final int MAX_TOKENS = 10_000_000;

    private MultimodalSettings() {}

    public static MediaSettings read(Section server) {
        var section = server.section("multimodal");
        String served = server.text("served-model-name").split(",", 2)[0].strip();
        String model = section.text("model").isEmpty() ? served : section.text("model");
        return MediaSettingsBuilder.builder()
                .model(served)
                .processor(processor(section, model))
                .pixels(pixels(section))
                .imageTokens(section.wholeNumber("image-tokens", 1, MAX_TOKENS))
                .defaultSize(new ImageSize(
                        section.wholeNumber("default-image-width", 1, MAX_SIDE),
                        section.wholeNumber("default-image-height", 1, MAX_SIDE)))
                .audioTokensPerSecond(section.number("audio-tokens-per-second", 0.001, MAX_TOKENS))
                .defaultAudioSeconds(section.number("default-audio-seconds", 0.001, MAX_TOKENS))
                .videoFrames(section.wholeNumber("video-frames", 1, 100_000))
                .videoTokensPerFrame(section.wholeNumber("video-tokens-per-frame", 1, MAX_TOKENS))
                .limits(limits(section.section("limit-mm-per-prompt")))
                .build();
    }

    private static MediaProcessor processor(Section section, String model) {
        var names = new ArrayList<>(List.of(AUTO));
        for (var each : MediaProcessor.values()) {
            names.add(Section.nameOf(each));
        }
        return section.choice(PROCESSOR, names).equals(AUTO)
                ? KnownProcessors.of(model)
                : section.choice(PROCESSOR, MediaProcessor.class);
    }

    private static MediaProcessor.PixelLimits pixels(Section section) {
        long min = section.wholeNumber("min-pixels", 0, 1L << 32);
        long max = section.wholeNumber("max-pixels", 0, 1L << 32);
        if (max > 0 && min > max) {
            throw section.unusable("min-pixels", "must be at most max-pixels, which is " + max);
        }
        return new MediaProcessor.PixelLimits(min, max);
    }

    private static Map<MediaKind, Integer> limits(Section section) {
        var limits = new EnumMap<MediaKind, Integer>(MediaKind.class);
        for (var kind : MediaKind.values()) {
            limits.put(kind, section.wholeNumber(kind.word(), 0, 1_000_000));
        }
        return limits;
    }
}
