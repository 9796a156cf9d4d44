package understudy.api.model;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Turns the bytes of tokens into text as they come; a character whose bytes are spread over tokens comes with the last.
 */
public final class Detokenizer {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private ByteBuffer pending = ByteBuffer.allocate(64);

    /** Returns the text that is complete with these bytes; it may be empty. */
    public String append(Tokenizer.TokenText token) {
        var ascii = token.ascii();
        if (ascii != null && pending.position() == 0) {
            return ascii;
        }
        var bytes = token.bytes().duplicate();
        if (pending.remaining() < bytes.remaining()) {
            var larger = ByteBuffer.allocate(pending.position() + bytes.remaining());
            pending = larger.put(pending.flip());
        }
        pending.put(bytes);
        return decode(false);
    }

    /** Returns the rest at the end of the text, an incomplete character as U+FFFD. */
    public String end() {
        return decode(true);
    }

    private String decode(boolean isEnd) {
        pending.flip();
        var text = CharBuffer.allocate(pending.remaining() + 1);
        decoder.decode(pending, text, isEnd);
        pending.compact();
        return text.flip().toString();
    }
}
