package understudy.api.model;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.prompt.TokenIds;

/**
 * Tokenizer of a Hugging Face {@code tokenizer.json}: the library of its makers encodes, so that token ids, and with them
 * block hashes, are those of the real model; single tokens are decoded here, byte by byte.
 */
final class HuggingFaceCodec implements TokenCodec {
    private static final String SAMPLE = "a";
    private static final Map<String, String> OPTIONS = Map.of("truncation", "false", "padding", "false");

    private final HuggingFaceTokenizer library;
    private final TokenTable table;
    private final TokenIds prefix;
    private final TokenIds suffix;

    private HuggingFaceCodec(HuggingFaceTokenizer library, TokenTable table) {
        this.library = library;
        this.table = table;
        var bare = encode(SAMPLE);
        var whole = toInts(library.encode(SAMPLE, true, false).getIds());
        int start = Math.max(0, indexOf(bare, whole));
        prefix = new TokenIds(Arrays.copyOf(whole, start));
        suffix = new TokenIds(Arrays.copyOfRange(whole, Math.min(whole.length, start + bare.length), whole.length));
    }

    /**
     * Loads a file.
     *
     * @throws IllegalArgumentException if it is not what it should be; the message says how
     */
    static HuggingFaceCodec load(Path file) {
        var table = TokenTable.read(file);
        try {
            keepTheLibraryAtHome();
            return new HuggingFaceCodec(HuggingFaceTokenizer.newInstance(file, OPTIONS), table);
        } catch (IOException | RuntimeException e) {
            throw new IllegalArgumentException("which cannot be loaded: " + firstLine(e.getMessage()), e);
        } catch (LinkageError e) {
            throw new IllegalArgumentException(
                    "which needs ai.djl.huggingface:tokenizers, whose native part cannot be loaded: "
                            + firstLine(e.getMessage()),
                    e);
        }
    }

    /** It would look for a GPU, report its use, and fetch what its jar has anyway; and it unpacks itself to a folder. */
    private static void keepTheLibraryAtHome() throws IOException {
        System.setProperty("RUST_FLAVOR", "cpu");
        System.setProperty("OPT_OUT_TRACKING", "true");
        var home = Path.of(System.getProperty("user.home", ""));
        boolean hasHome = Files.isDirectory(home) && Files.isWritable(home);
        boolean isSet = System.getenv("DJL_CACHE_DIR") != null || System.getProperty("DJL_CACHE_DIR") != null;
        if (!hasHome && !isSet) {
            System.setProperty(
                    "DJL_CACHE_DIR",
                    Files.createTempDirectory("understudy-tokenizers").toString());
        }
    }

    private static String firstLine(@Nullable String message) {
        return message == null
                ? "no reason is given"
                : message.lines().findFirst().orElse("");
    }

    private static int indexOf(int[] part, int[] whole) {
        for (int start = 0; start + part.length <= whole.length; start++) {
            if (Arrays.equals(part, 0, part.length, whole, start, start + part.length)) {
                return start;
            }
        }
        return -1;
    }

    private static int[] toInts(long[] ids) {
        var ints = new int[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ints[i] = Math.toIntExact(ids[i]);
        }
        return ints;
    }

    /** As with vLLM, the names of special tokens in a text are those tokens. */
    private int[] encode(String text) {
        return toInts(library.encode(Tokenizer.whole(text), false, false).getIds());
    }

    @Override
    public int[] first(String text, int most) {
        var ids = encode(text);
        return ids.length <= most ? ids : Arrays.copyOf(ids, most);
    }

    @Override
    public int[] last(String text, int most) {
        var ids = encode(text);
        return ids.length <= most ? ids : Arrays.copyOfRange(ids, ids.length - most, ids.length);
    }

    @Override
    public byte @Nullable [] bytes(int token) {
        return table.bytes(token);
    }

    @Override
    public boolean isSpecial(int token) {
        return token < 0 || table.isSpecial(token);
    }

    @Override
    public int size() {
        return table.size();
    }

    @Override
    public int maxCharsPerToken() {
        return table.maxChars();
    }

    @Override
    public TokenIds prefix() {
        return prefix;
    }

    @Override
    public TokenIds suffix() {
        return suffix;
    }

    @Override
    public int special(String text) {
        return table.special(text);
    }
}
