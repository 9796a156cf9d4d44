package understudy.api.media;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Map;

/**
 * Settings of what media count.
 *
 * @param model name of the model, for the refusal of a model of text alone
 * @param pixels limits of the pixels of a picture
 * @param imageTokens tokens of a picture for which the processor has no rule
 * @param defaultSize of pictures that would have to be fetched
 * @param audioTokensPerSecond tokens of a second of audio
 * @param defaultAudioSeconds length of audio that cannot be told
 * @param videoFrames frames that are taken of a video
 * @param videoTokensPerFrame tokens of each of them
 * @param limits how many of each kind a prompt may have
 */
@RecordBuilder
public record MediaSettings(
        String model,
        MediaProcessor processor,
        MediaProcessor.PixelLimits pixels,
        int imageTokens,
        ImageSize defaultSize,
        double audioTokensPerSecond,
        double defaultAudioSeconds,
        int videoFrames,
        int videoTokensPerFrame,
        Map<MediaKind, Integer> limits) {
    public MediaSettings {
        limits = Map.copyOf(limits);
    }

    /** Returns how many of a kind a prompt may have. */
    int limit(MediaKind kind) {
        return processor.takes(kind) ? limits.getOrDefault(kind, 0) : 0;
    }
}
