package understudy.api.media;

import java.io.InputStream;
import java.util.Base64;

/** Bytes that stand in a text in Base64, decoded as far as they are read. */
final class Base64Text {
    private Base64Text() {}

    /** Returns the bytes from a place in a text on; reading them fails where the text is no Base64. */
    static InputStream bytes(String text, int from) {
        return Base64.getDecoder().wrap(new Characters(text, from));
    }

    /** Returns how many bytes that are. */
    static long numBytes(String text, int from) {
        int end = text.length();
        while (end > from && text.charAt(end - 1) == '=') {
            end--;
        }
        return (end - from) * 3L / 4;
    }

    /** Characters of a text as bytes, without a copy; a character without a byte becomes one that is no Base64. */
    private static final class Characters extends InputStream {
        private final String text;
        private int next;

        Characters(String text, int from) {
            this.text = text;
            next = from;
        }

        @Override
        public int read() {
            if (next == text.length()) {
                return -1;
            }
            char c = text.charAt(next++);
            return c < 0x80 ? c : 0;
        }

        @Override
        public int read(byte[] into, int at, int count) {
            int numRead = Math.min(count, text.length() - next);
            for (int i = 0; i < numRead; i++) {
                into[at + i] = (byte) read();
            }
            return numRead == 0 && count > 0 ? -1 : numRead;
        }
    }
}
