package understudy.api.model;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingRegistry;
import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.jsonsample.TextPieces;
import understudy.prompt.TokenIds;

/** Byte-pair encoding as OpenAI's models use it, with the two special tokens of ChatML. */
final class BundledCodec implements TokenCodec {
    private static final int MAX_PIECE_CHARS = 8192;
    private static final TokenIds NOTHING = new TokenIds();

    /** Loads a vocabulary once for all servers of a process: tests start many. What it gives is immutable. */
    private static final EncodingRegistry ENCODINGS = Encodings.newLazyEncodingRegistry();

    private final Encoding encoding;
    private final int numOrdinary;
    private final int maxCharsPerToken;
    private final int imStart;
    private final Map<Integer, String> specialTokens;

    BundledCodec(Tokenizer.Vocabulary vocabulary) {
        encoding = ENCODINGS.getEncoding(vocabulary.type());
        numOrdinary = vocabulary.numOrdinary();
        imStart = vocabulary.imStart();
        maxCharsPerToken = vocabulary.maxCharsPerToken();
        specialTokens = Map.of(imStart, ChatMarkers.IM_START, imStart + 1, ChatMarkers.IM_END);
        // Loads the vocabulary, so that the first request need not.
        encode("a");
    }

    @Override
    public int[] first(String text, int most) {
        return new TextPieces(text, MAX_PIECE_CHARS, this::encode).firstTokens(most);
    }

    @Override
    public int[] last(String text, int most) {
        return new TextPieces(text, MAX_PIECE_CHARS, this::encode).lastTokens(most);
    }

    /** The names of special tokens are text like any other. */
    private int[] encode(String piece) {
        return encoding.encodeOrdinary(Tokenizer.whole(piece)).toArray();
    }

    @Override
    public byte @Nullable [] bytes(int token) {
        if (token < 0 || token >= numOrdinary) {
            var special = specialTokens.get(token);
            return special == null ? null : special.getBytes(StandardCharsets.UTF_8);
        }
        var one = new IntArrayList(1);
        one.add(token);
        return encoding.decodeBytes(one);
    }

    @Override
    public boolean isSpecial(int token) {
        return token >= imStart && specialTokens.containsKey(token);
    }

    @Override
    public int size() {
        return imStart + 2;
    }

    @Override
    public int maxCharsPerToken() {
        return maxCharsPerToken;
    }

    @Override
    public TokenIds prefix() {
        return NOTHING;
    }

    @Override
    public TokenIds suffix() {
        return NOTHING;
    }

    @Override
    public int special(String text) {
        return text.equals(ChatMarkers.IM_START) ? imStart : text.equals(ChatMarkers.IM_END) ? imStart + 1 : -1;
    }
}
