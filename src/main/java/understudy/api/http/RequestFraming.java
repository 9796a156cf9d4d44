package understudy.api.http;

import org.apache.pekko.util.ByteString;

/**
 * Framing of the requests of a connection, as far as it takes to find their headers {@code Content-Length}. Pekko reads
 * a length of 2^64 + 29 as 29, so that what a proxy takes for a body is a request here. Such a number gets a letter in
 * place of its 19th digit, which the parser answers with 400 before it closes the connection.
 */
final class RequestFraming {
    private static final String CONTENT_LENGTH = "content-length";
    private static final String TRANSFER_ENCODING = "transfer-encoding";
    private static final int MAX_DIGITS = 18;

    /** Of a size in hexadecimal digits; Pekko allows fewer. */
    private static final int MAX_HEX_DIGITS = 15;

    private enum Part {
        REQUEST_LINE,
        HEADER_NAME,
        HEADER_VALUE,
        BODY,
        CHUNK_SIZE,
        CHUNK_EXTENSION,
        CHUNK,
        CHUNK_END,
        TRAILER,
        /** Everything after bytes that are not understood; the parser refuses those, and closes the connection. */
        REST
    }

    private Part part = Part.REQUEST_LINE;

    /** Bytes of the line so far, without its end. */
    private int lineLength;

    private final StringBuilder name = new StringBuilder(TRANSFER_ENCODING.length() + 1);
    private boolean isLength;
    private boolean isChunked;
    private int numDigits;
    private long length;

    /** Returns the received bytes, of which one may have been changed. */
    ByteString check(ByteString received) {
        int size = received.size();
        if (part == Part.REST || ((part == Part.BODY || part == Part.CHUNK) && length > size)) {
            length -= size;
            return received;
        }
        byte[] bytes = received.toArrayUnsafe();
        for (int i = 0; i < size; i++) {
            if (part == Part.BODY || part == Part.CHUNK) {
                int skipped = (int) Math.min(length, size - i);
                length -= skipped;
                i += skipped - 1;
                endBody();
            } else if (!accept(bytes[i])) {
                byte[] spoilt = bytes.clone();
                spoilt[i] = 'x';
                part = Part.REST;
                return ByteString.fromArrayUnsafe(spoilt);
            }
        }
        return received;
    }

    private void endBody() {
        if (length == 0) {
            begin(part == Part.BODY ? Part.REQUEST_LINE : Part.CHUNK_END);
        }
    }

    /** Handles one byte of a line; returns whether it may be so. */
    private boolean accept(byte b) {
        if (b == '\n') {
            endLine();
            return true;
        }
        if (b != '\r') {
            lineLength++;
        }
        switch (part) {
            case HEADER_NAME -> acceptName(b);
            case HEADER_VALUE -> {
                return !isLength || acceptDigit(b);
            }
            case CHUNK_SIZE -> acceptHexDigit(b);
            default -> {}
        }
        return true;
    }

    private void acceptName(byte b) {
        if (b == ':') {
            isLength = name.toString().equals(CONTENT_LENGTH);
            isChunked |= name.toString().equals(TRANSFER_ENCODING);
            numDigits = 0;
            part = Part.HEADER_VALUE;
        } else if (name.length() <= TRANSFER_ENCODING.length()) {
            name.append((char) (b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b));
        }
    }

    private boolean acceptDigit(byte b) {
        if (b < '0' || b > '9') {
            return true;
        }
        length = numDigits == 0 ? b - '0' : length * 10 + (b - '0');
        return ++numDigits <= MAX_DIGITS;
    }

    private void acceptHexDigit(byte b) {
        int digit = Character.digit(b, 16);
        if (digit < 0) {
            part = Part.CHUNK_EXTENSION;
        } else {
            length = length * 16 + digit;
            part = ++numDigits > MAX_HEX_DIGITS ? Part.REST : part;
        }
    }

    private void endLine() {
        switch (part) {
            case REQUEST_LINE -> {
                if (lineLength > 0) {
                    isChunked = false;
                    length = 0;
                    begin(Part.HEADER_NAME);
                }
            }
            case HEADER_NAME -> {
                if (lineLength == 0) {
                    endHead();
                } else {
                    begin(Part.HEADER_NAME);
                }
            }
            case HEADER_VALUE -> begin(Part.HEADER_NAME);
            case CHUNK_SIZE, CHUNK_EXTENSION -> begin(length == 0 ? Part.TRAILER : Part.CHUNK);
            case CHUNK_END -> {
                length = 0;
                begin(Part.CHUNK_SIZE);
            }
            case TRAILER -> begin(lineLength == 0 ? Part.REQUEST_LINE : Part.TRAILER);
            case REST -> {}
            case BODY, CHUNK -> throw new IllegalStateException(part + " has no lines");
        }
    }

    private void endHead() {
        if (isChunked) {
            length = 0;
            begin(Part.CHUNK_SIZE);
        } else {
            begin(length == 0 ? Part.REQUEST_LINE : Part.BODY);
        }
    }

    private void begin(Part next) {
        part = next;
        lineLength = 0;
        numDigits = 0;
        name.setLength(0);
    }
}
