package understudy.api.model;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.schema.TextPieces;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSequence;

/** Byte-pair encoding as OpenAI's models use it, with the two special tokens of ChatML. Thread-safe. */
public final class Tokenizer {
    private static final int MAX_PIECE_CHARS = 8192;
    private static final TokenText UNKNOWN = TokenText.of("\uFFFD".getBytes(StandardCharsets.UTF_8));

    private final Encoding encoding;
    private final int vocabularySize;
    private final int numOrdinary;
    private final int imStart;
    private final int maxCharsPerToken;
    private final Map<Integer, String> specialTokens;
    private final AtomicReferenceArray<TokenText> known;

    /** The vocabularies that come with the program. */
    public enum Vocabulary {
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
    }

    private Tokenizer(Vocabulary vocabulary) {
        encoding = Encodings.newLazyEncodingRegistry().getEncoding(vocabulary.type);
        imStart = vocabulary.imStart;
        maxCharsPerToken = vocabulary.maxCharsPerToken;
        numOrdinary = vocabulary.numOrdinary;
        vocabularySize = vocabulary.imStart + 2;
        known = new AtomicReferenceArray<>(numOrdinary);
        specialTokens = Map.of(imStart(), "<|im_start|>", imEnd(), "<|im_end|>");
        // Loads the vocabulary, so that the first request need not.
        encode("a");
    }

    /** Loads a vocabulary, which takes some tenths of a second. */
    public static Tokenizer load(Vocabulary vocabulary) {
        return new Tokenizer(vocabulary);
    }

    /** Returns the token that opens a message. */
    public int imStart() {
        return imStart;
    }

    /** Returns the token that closes a message, which is also the model's end-of-sequence token. */
    int imEnd() {
        return imStart + 1;
    }

    /** Returns the length of the longest token, which in both vocabularies is one of spaces. */
    public int maxCharsPerToken() {
        return maxCharsPerToken;
    }

    /** Refuses ids that are no tokens. */
    public void requireKnown(int... tokens) {
        for (int token : tokens) {
            if (token < 0 || token >= vocabularySize) {
                throw ApiException.badRequest("Token id " + token + " is out of vocabulary", "prompt");
            }
        }
    }

    public boolean isSpecial(int token) {
        return token >= imStart && specialTokens.containsKey(token);
    }

    /** Returns the tokens of a text; the names of special tokens are text like any other. */
    public int[] encode(String text) {
        return encode(text, Integer.MAX_VALUE);
    }

    /** Returns the first {@code most} tokens of a text; what is far behind them is not looked at. */
    public int[] encode(String text, int most) {
        return new TextPieces(text, MAX_PIECE_CHARS, this::encodePiece).firstTokens(most);
    }

    /** Returns the last {@code most} tokens of a text; what is far before them is not looked at. */
    public int[] encodeEnd(String text, int most) {
        return new TextPieces(text, MAX_PIECE_CHARS, this::encodePiece).lastTokens(most);
    }

    private int[] encodePiece(String text) {
        boolean mayBeBroken = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
        // JSON can carry half of a surrogate pair, which no UTF-8 can: it becomes a question mark.
        String whole = mayBeBroken ? new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8) : text;
        return encoding.encodeOrdinary(whole).toArray();
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

    /** Returns what a token stands for. Tokens once asked for are remembered: every streamed token asks. */
    public TokenText text(int token) {
        if (token < 0 || token >= numOrdinary) {
            var special = specialTokens.get(token);
            return special == null ? UNKNOWN : TokenText.of(special.getBytes(StandardCharsets.UTF_8));
        }
        var text = known.getAcquire(token);
        if (text == null) {
            var one = new IntArrayList(1);
            one.add(token);
            text = TokenText.of(encoding.decodeBytes(one));
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
