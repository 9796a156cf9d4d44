package understudy.api.model;

import com.knuddels.jtokkit.api.EncodingType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSequence;

/** Tokens of texts, and texts of tokens. Thread-safe. */
public final class Tokenizer {
    private static final TokenText UNKNOWN = TokenText.of("\uFFFD".getBytes(StandardCharsets.UTF_8));

    private final TokenCodec codec;
    private final ChatMarkers markers;
    private final AtomicReferenceArray<TokenText> known;

    /** Source of a tokenizer. */
    public interface Source {

        /** Returns the tokenizer, which may take some tenths of a second. */
        Tokenizer load();
    }

    /** The vocabularies that come with the program. */
    public enum Vocabulary implements Source {
        /** 100 thousand tokens, as GPT-4. */
        CL100K_BASE(EncodingType.CL100K_BASE, 100_256, 100_264, 128),
        /** 200 thousand tokens, as GPT-4o. */
        O200K_BASE(EncodingType.O200K_BASE, 199_998, 200_264, 128);

        private final EncodingType type;
        private final int numOrdinary;
        private final int imStart;
        private final int maxCharsPerToken;

        Vocabulary(EncodingType type, int numOrdinary, int imStart, int maxCharsPerToken) {
            this.type = type;
            this.numOrdinary = numOrdinary;
            this.imStart = imStart;
            this.maxCharsPerToken = maxCharsPerToken;
        }

        EncodingType type() {
            return type;
        }

        int numOrdinary() {
            return numOrdinary;
        }

        int imStart() {
            return imStart;
        }

        int maxCharsPerToken() {
            return maxCharsPerToken;
        }

        @Override
        public Tokenizer load() {
            return new Tokenizer(new BundledCodec(this));
        }
    }

    Tokenizer(TokenCodec codec) {
        this.codec = codec;
        markers = ChatMarkers.of(codec);
        known = new AtomicReferenceArray<>(codec.size());
    }

    /** Returns one more than the highest token. */
    public int size() {
        return codec.size();
    }

    /** Returns the token of a special text, or -1. */
    public int special(String text) {
        return codec.special(text);
    }

    /** Returns the special tokens between the messages of a conversation. */
    ChatMarkers markers() {
        return markers;
    }

    /** Returns the model's end-of-sequence token, or -1 if it has none. */
    int endToken() {
        return markers.end();
    }

    /** Returns the tokens that stand before the text of a prompt, such as that of its beginning. */
    TokenIds prefix() {
        return codec.prefix();
    }

    /** Returns the tokens that stand behind the text of a prompt. */
    TokenIds suffix() {
        return codec.suffix();
    }

    /** Returns the length of the longest token; in the vocabularies of the program it is one of spaces. */
    public int maxCharsPerToken() {
        return codec.maxCharsPerToken();
    }

    /** Refuses ids that are no tokens. */
    public void requireKnown(int... tokens) {
        for (int token : tokens) {
            if (token < 0 || token >= codec.size()) {
                throw ApiException.badRequest("Token id " + token + " is out of vocabulary", "prompt");
            }
        }
    }

    public boolean isSpecial(int token) {
        return codec.isSpecial(token);
    }

    /** Returns the tokens of a text, and none around it. */
    public int[] encode(String text) {
        return encode(text, Integer.MAX_VALUE);
    }

    /** Returns the first {@code most} tokens of a text. */
    public int[] encode(String text, int most) {
        return codec.first(text, most);
    }

    /** Returns the last {@code most} tokens of a text. */
    public int[] encodeEnd(String text, int most) {
        return codec.last(text, most);
    }

    /** JSON can carry half of a surrogate pair, which no UTF-8 can: it becomes a question mark. */
    static String whole(String text) {
        boolean mayBeBroken = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
        return mayBeBroken ? new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8) : text;
    }

    static String text(byte @Nullable [] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    /**
     * Text of a token.
     *
     * @param bytes which need not be whole characters; not to be written to
     * @param ascii the same as text, or null if there is more than ASCII to it
     */
    public record TokenText(ByteBuffer bytes, @Nullable String ascii) {
        static TokenText of(byte[] bytes) {
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            boolean isAscii = text.chars().allMatch(each -> each < 0x80);
            return new TokenText(ByteBuffer.wrap(bytes).asReadOnlyBuffer(), isAscii ? text : null);
        }
    }

    /** Returns the text of a token. Tokens once asked for are remembered: every streamed token asks. */
    public TokenText text(int token) {
        if (token < 0 || token >= known.length()) {
            return UNKNOWN;
        }
        var text = known.getAcquire(token);
        if (text == null) {
            byte @Nullable [] bytes = codec.bytes(token);
            text = bytes == null ? UNKNOWN : TokenText.of(bytes);
            known.setRelease(token, text);
        }
        return text;
    }

    /** Returns the text of a token by itself. */
    public String decode(int token) {
        return decode(new TokenIds(token));
    }

    /** Returns the text of some tokens, special ones included. */
    public String decode(TokenSequence tokens) {
        var detokenizer = new Detokenizer();
        var text = new StringBuilder();
        for (int i = 0; i < tokens.length(); i++) {
            text.append(detokenizer.append(text(tokens.tokenAt(i))));
        }
        return text.append(detokenizer.end()).toString();
    }
}
