package understudy.api;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import understudy.kvcache.TokenIds;
import understudy.kvcache.TokenSequence;

/** Byte-pair encoding as OpenAI's models use it, with the two special tokens of ChatML. Thread-safe. */
public final class Tokenizer {
    private static final byte[] UNKNOWN = "\uFFFD".getBytes(StandardCharsets.UTF_8);

    private final Encoding encoding;
    private final int vocabularySize;
    private final int numOrdinary;
    private final int imStart;
    private final Map<Integer, String> specialTokens;
    /** Bytes of tokens that were asked for; a race at most finds the same bytes twice. */
    private final AtomicReferenceArray<byte[]> known;

    /** The vocabularies that come with the program. */
    public enum Vocabulary {
        /** 100 thousand tokens, as GPT-4. */
        CL100K_BASE(EncodingType.CL100K_BASE, 100_256, 100_264),
        /** 200 thousand tokens, as GPT-4o. */
        O200K_BASE(EncodingType.O200K_BASE, 199_998, 200_264);

        private final EncodingType type;
        private final int numOrdinary;
        private final int imStart;

        Vocabulary(EncodingType type, int numOrdinary, int imStart) {
            this.type = type;
            this.numOrdinary = numOrdinary;
            this.imStart = imStart;
        }
    }

    private Tokenizer(Vocabulary vocabulary) {
        encoding = Encodings.newLazyEncodingRegistry().getEncoding(vocabulary.type);
        imStart = vocabulary.imStart;
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
    int imStart() {
        return imStart;
    }

    /** Returns the token that closes a message, which is also the model's end-of-sequence token. */
    int imEnd() {
        return imStart + 1;
    }

    /** Returns the smallest number above all token ids. */
    int vocabularySize() {
        return vocabularySize;
    }

    /** Refuses what is not a token. */
    void requireKnown(int... tokens) {
        for (int token : tokens) {
            if (token < 0 || token >= vocabularySize) {
                throw ApiException.badRequest("Token id " + token + " is out of vocabulary", "prompt");
            }
        }
    }

    boolean isSpecial(int token) {
        return token >= imStart && specialTokens.containsKey(token);
    }

    /** Returns the tokens of a text; the names of special tokens are text like any other. */
    int[] encode(String text) {
        boolean mayBeBroken = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
        // JSON can carry half of a surrogate pair, which no UTF-8 can: it becomes a question mark.
        String whole = mayBeBroken ? new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8) : text;
        return encoding.encodeOrdinary(whole).toArray();
    }

    /** Returns the bytes of a token, which need not be whole characters; not to be written to. */
    byte[] bytes(int token) {
        var special = token >= imStart ? specialTokens.get(token) : null;
        if (special != null) {
            return special.getBytes(StandardCharsets.UTF_8);
        }
        if (token < 0 || token >= numOrdinary) {
            return UNKNOWN;
        }
        byte[] bytes = known.getAcquire(token);
        if (bytes == null) {
            var one = new IntArrayList(1);
            one.add(token);
            bytes = encoding.decodeBytes(one);
            known.setRelease(token, bytes);
        }
        return bytes;
    }

    /** Returns the text of a token by itself. */
    String decode(int token) {
        return decode(new TokenIds(token));
    }

    /** Returns the text of some tokens, special ones included. */
    String decode(TokenSequence tokens) {
        var detokenizer = new Detokenizer();
        var text = new StringBuilder();
        for (int i = 0; i < tokens.length(); i++) {
            text.append(detokenizer.append(bytes(tokens.tokenAt(i))));
        }
        return text.append(detokenizer.end()).toString();
    }
}
