package understudy.api.media;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Map;

/** Pictures of nothing but a header, and readers of them. */
public final class SmallMedia {
    private SmallMedia() {}

    /** Returns a reader with round settings: 100 tokens a picture, 10 a second, three of each kind. */
    public static MediaReader reader(MediaProcessor processor) {
        return new MediaReader(MediaSettingsBuilder.builder()
                .model("small-model")
                .processor(processor)
                .pixels(new MediaProcessor.PixelLimits(0, 0))
                .imageTokens(100)
                .defaultSize(new ImageSize(1024, 1024))
                .audioTokensPerSecond(10)
                .defaultAudioSeconds(5)
                .videoFrames(32)
                .videoTokensPerFrame(4)
                .limits(Map.of(MediaKind.IMAGE, 3, MediaKind.AUDIO, 3, MediaKind.VIDEO, 3))
                .build());
    }

    /** Returns the beginning of a PNG. */
    public static byte[] png(int width, int height) {
        return ByteBuffer.allocate(33)
                .put(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 26, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R'})
                .putInt(width)
                .putInt(height)
                .array();
    }

    /** Returns bytes as a URL. */
    public static String url(byte[] bytes) {
        return "data:image/png;base64," + Base64.getEncoder().encodeToString(bytes);
    }
}
