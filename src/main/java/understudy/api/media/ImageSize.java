package understudy.api.media;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** Width and height of a picture in pixels, at least 1 each. */
public record ImageSize(int width, int height) {
    private static final int START_OF_SCAN = 0xDA;
    private static final int END_OF_IMAGE = 0xD9;

    /**
     * Reads the header of a PNG, JPEG, GIF or WebP, and nothing behind it.
     *
     * @throws IOException if it is none, or ends too soon, or has no pixels
     */
    static ImageSize read(InputStream in) throws IOException {
        int first = byteOf(in);
        int second = byteOf(in);
        var size = switch ((first << 8) | second) {
            case 0x8950 -> png(in);
            case 0xFFD8 -> jpeg(in);
            case 0x4749 -> gif(in);
            case 0x5249 -> webp(in);
            default -> throw new IOException("no picture");
        };
        if (size.width < 1 || size.height < 1) {
            throw new IOException("no pixels");
        }
        return size;
    }

    private static ImageSize png(InputStream in) throws IOException {
        require(in, "NG\r\n\u001a\n");
        in.skipNBytes(4);
        require(in, "IHDR");
        return new ImageSize(big(in, 4), big(in, 4));
    }

    private static ImageSize gif(InputStream in) throws IOException {
        require(in, "F8");
        in.skipNBytes(2);
        return new ImageSize(little(in, 2), little(in, 2));
    }

    private static ImageSize webp(InputStream in) throws IOException {
        require(in, "FF");
        in.skipNBytes(4);
        require(in, "WEBPVP8");
        switch (byteOf(in)) {
            case ' ' -> {
                in.skipNBytes(4 + 3 + 3);
                return new ImageSize(little(in, 2) & 0x3FFF, little(in, 2) & 0x3FFF);
            }
            case 'L' -> {
                in.skipNBytes(4 + 1);
                int bits = little(in, 4);
                return new ImageSize((bits & 0x3FFF) + 1, ((bits >>> 14) & 0x3FFF) + 1);
            }
            case 'X' -> {
                in.skipNBytes(4 + 4);
                return new ImageSize(little(in, 3) + 1, little(in, 3) + 1);
            }
            default -> throw new IOException("no WebP");
        }
    }

    /** The size stands in the start of a frame, behind segments of any number, each of which says how long it is. */
    private static ImageSize jpeg(InputStream in) throws IOException {
        while (true) {
            int marker = marker(in);
            if (marker == START_OF_SCAN || marker == END_OF_IMAGE) {
                throw new IOException("no frame");
            }
            int length = big(in, 2);
            if (length < 2) {
                throw new IOException("no segment");
            }
            boolean isFrame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
            if (isFrame) {
                in.skipNBytes(1);
                int height = big(in, 2);
                return new ImageSize(big(in, 2), height);
            }
            in.skipNBytes(length - 2);
        }
    }

    private static int marker(InputStream in) throws IOException {
        if (byteOf(in) != 0xFF) {
            throw new IOException("no marker");
        }
        int marker = 0xFF;
        while (marker == 0xFF) {
            marker = byteOf(in);
        }
        return marker;
    }

    private static void require(InputStream in, String ascii) throws IOException {
        for (int i = 0; i < ascii.length(); i++) {
            if (byteOf(in) != ascii.charAt(i)) {
                throw new IOException("no such picture");
            }
        }
    }

    /** Numbers of four bytes above the largest int are negative, and so refused. */
    private static int big(InputStream in, int numBytes) throws IOException {
        int value = 0;
        for (int i = 0; i < numBytes; i++) {
            value = (value << 8) | byteOf(in);
        }
        return value;
    }

    private static int little(InputStream in, int numBytes) throws IOException {
        int value = 0;
        for (int i = 0; i < numBytes; i++) {
            value |= byteOf(in) << (8 * i);
        }
        return value;
    }

    private static int byteOf(InputStream in) throws IOException {
        int value = in.read();
        if (value < 0) {
            throw new EOFException("too short");
        }
        return value;
    }
}
