package understudy.prompt;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A prompt made of pieces of {@link SyntheticTokens}, each from the beginning of its segment: a shared system prompt,
 * then a question, then an answer. Two prompts share a prefix as far as their segments and lengths agree.
 */
public final class SegmentedTokens implements TokenSequence {
    /** The prompt without tokens, to append to. */
    public static final SegmentedTokens EMPTY = new SegmentedTokens(new long[0], new int[0], null, 0);

    private final long[] segments;
    private final int[] ends;

    /**
     * Tokens that begin as these do, whose hashes are known or, if there are none, the first piece; null once the hashes
     * of all are known. A prefix that others share is hashed once for all of them.
     */
    private @Nullable SegmentedTokens prefix;

    /** How many tokens at its beginning these share with {@link #prefix}. */
    private final int numShared;

    private @Nullable BlockHashes hashes;

    private SegmentedTokens(long[] segments, int[] ends, @Nullable SegmentedTokens prefix, int numShared) {
        this.segments = segments;
        this.ends = ends;
        this.prefix = prefix;
        this.numShared = numShared;
    }

    /**
     * Returns a prompt of equally long pieces, cut to a length.
     *
     * @param segments their numbers, in order; enough of them to cover {@code length}
     * @param tokensPerSegment tokens in each piece, at least 1
     * @param length tokens in the prompt, at least 0
     */
    public static SegmentedTokens ofBlocks(long[] segments, int tokensPerSegment, int length) {
        int count = (length + tokensPerSegment - 1) / tokensPerSegment;
        if (count > segments.length) {
            throw new IllegalArgumentException(
                    segments.length + " segments of " + tokensPerSegment + " tokens do not cover " + length);
        }
        var ends = new int[count];
        for (int i = 0; i < count; i++) {
            ends[i] = Math.min((i + 1) * tokensPerSegment, length);
        }
        return new SegmentedTokens(Arrays.copyOf(segments, count), ends, null, 0);
    }

    /** Returns this prompt followed by the first {@code length} tokens of a segment. */
    public SegmentedTokens append(long segment, int length) {
        if (length == 0) {
            return this;
        }
        int count = ends.length;
        var longerSegments = Arrays.copyOf(segments, count + 1);
        var longerEnds = Arrays.copyOf(ends, count + 1);
        longerSegments[count] = segment;
        longerEnds[count] = Math.addExact(length(), length);
        return sharing(longerSegments, longerEnds, length());
    }

    /**
     * Returns a prompt that begins with the first pieces of this one and goes on with others, equally long but for the
     * last, which has what is left.
     *
     * @param numPieces how many pieces of this prompt it begins with
     * @param more numbers of the other pieces, at least one
     * @param tokensPerSegment tokens in each of them, at least 1
     * @param length tokens in all, so many that each piece has at least one
     */
    public SegmentedTokens branch(int numPieces, long[] more, int tokensPerSegment, int length) {
        int count = numPieces + more.length;
        int numKept = numPieces == 0 ? 0 : ends[numPieces - 1];
        var otherSegments = Arrays.copyOf(segments, count);
        var otherEnds = Arrays.copyOf(ends, count);
        System.arraycopy(more, 0, otherSegments, numPieces, more.length);
        for (int i = numPieces; i < count; i++) {
            otherEnds[i] = numKept + (i - numPieces + 1) * tokensPerSegment;
        }
        otherEnds[count - 1] = length;
        return sharing(otherSegments, otherEnds, numKept);
    }

    /** Returns the same tokens, which share with others what these know of the hashes of their common beginning. */
    public SegmentedTokens sharing(SegmentedTokens others) {
        int count = CommonTokens.count(this, 0, others, 0, Math.min(length(), others.length()));
        return others.sharing(segments, ends, count);
    }

    /** Returns a prompt that shares so many tokens with this one, and whatever this one knows of their hashes. */
    private SegmentedTokens sharing(long[] otherSegments, int[] otherEnds, int count) {
        if (count == 0) {
            return new SegmentedTokens(otherSegments, otherEnds, null, 0);
        }
        var known = prefix;
        return hashes != null || known == null
                ? new SegmentedTokens(otherSegments, otherEnds, this, count)
                : new SegmentedTokens(otherSegments, otherEnds, known, Math.min(count, numShared));
    }

    /**
     * Returns the hashes of these tokens for a prompt of its kind, of which one is kept, and what begins with these
     * tokens begins with them; a thread that does not see what another one keeps makes the same again.
     */
    BlockHashes blockHashes(Prompt prompt, BlockHasher hasher) {
        var known = hashes;
        if (known == null || !known.areFor(prompt, hasher)) {
            var shared = prefix;
            known = shared == null
                    ? BlockHashes.of(hasher, prompt, this)
                    : shared.blockHashes(prompt, hasher).goingOn(prompt, this, numShared);
            hashes = known;
            prefix = null;
        }
        return known;
    }

    @Override
    public int length() {
        return ends.length == 0 ? 0 : ends[ends.length - 1];
    }

    @Override
    public int tokenAt(int index) {
        int piece = pieceOf(index);
        return new SyntheticTokens(segments[piece]).tokenAt(index - startOf(piece));
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        int copied = 0;
        for (int piece = pieceOf(from); copied < count; piece++) {
            int index = from + copied;
            int fromThisPiece = Math.min(count - copied, ends[piece] - index);
            new SyntheticTokens(segments[piece]).copy(index - startOf(piece), fromThisPiece, into, at + copied);
            copied += fromThisPiece;
        }
    }

    /** Returns the number of a piece's segment. */
    long segmentOf(int piece) {
        return segments[piece];
    }

    /** Returns the position of a piece's first token. */
    int startOf(int piece) {
        return piece == 0 ? 0 : ends[piece - 1];
    }

    /** Returns the position behind a piece's last token. */
    int endOf(int piece) {
        return ends[piece];
    }

    /** Returns the piece that has the token at a position. */
    int pieceOf(int index) {
        int found = Arrays.binarySearch(ends, index + 1);
        return found >= 0 ? found : -found - 1;
    }
}
