package understudy.prompt;

import java.util.Arrays;

/**
 * Comparison of token sequences by the pieces that they are made of. Two sequences that share pieces of synthetic text,
 * or the very same ids, are compared in as many steps as there are pieces; only the rest is read token by token.
 */
public final class CommonTokens {
    private static final int CHUNK = 64;

    private CommonTokens() {}

    /**
     * Returns how many tokens of {@code a} from {@code fromA} on are equal to those of {@code b} from {@code fromB} on, up
     * to the first that differs.
     *
     * @param max how many to compare; both have so many
     */
    public static int count(TokenSource a, int fromA, TokenSource b, int fromB, int max) {
        if (a == b && fromA == fromB) {
            return max;
        }
        var first = new Piece();
        var second = new Piece();
        int count = 0;
        while (count < max) {
            first.seek(a, fromA + count);
            second.seek(b, fromB + count);
            int length = Math.min(max - count, Math.min(first.numLeft, second.numLeft));
            int equal = first.isSameAs(second) ? length : first.equalTokens(second, length);
            count += equal;
            if (equal < length) {
                break;
            }
        }
        return count;
    }

    /** Piece of a sequence from a position on. */
    private static final class Piece {
        private TokenSource source = TokenIds.NONE;
        private int offset;
        private int numLeft;

        /** Whether the tokens are those of {@link SyntheticTokens}, and then of which. */
        private boolean isSynthetic;

        private long segment;

        private void seek(TokenSource whole, int position) {
            source = whole;
            offset = position;
            numLeft = Integer.MAX_VALUE;
            isSynthetic = false;
            while (isComposed()) {
                // Its parts are looked at in turn.
            }
            if (source instanceof SegmentedTokens pieces) {
                int piece = pieces.pieceOf(offset);
                numLeft = Math.min(numLeft, pieces.endOf(piece) - offset);
                offset -= pieces.startOf(piece);
                setSynthetic(pieces.segmentOf(piece));
            } else if (source instanceof SyntheticTokens text) {
                setSynthetic(text.segment());
            }
        }

        /** Goes from a sequence that is made of others to that which has the token; returns whether it was one. */
        private boolean isComposed() {
            if (source instanceof SequenceTokens sequence) {
                int length = sequence.prompt().length();
                if (offset < length) {
                    numLeft = Math.min(numLeft, length - offset);
                    source = sequence.prompt();
                } else {
                    offset -= length;
                    source = sequence.output();
                }
                return true;
            }
            if (source instanceof TokenPrefix prefix) {
                source = prefix.whole();
                return true;
            }
            if (source instanceof TokenSuffix suffix) {
                offset += suffix.start();
                source = suffix.whole();
                return true;
            }
            return false;
        }

        private void setSynthetic(long newSegment) {
            isSynthetic = true;
            segment = newSegment;
        }

        private boolean isSameAs(Piece other) {
            if (offset != other.offset) {
                return false;
            }
            return isSynthetic ? other.isSynthetic && segment == other.segment : source == other.source;
        }

        private int tokenAt(int index) {
            return isSynthetic ? new SyntheticTokens(segment).tokenAt(offset + index) : source.tokenAt(offset + index);
        }

        private void copy(int from, int count, int[] into) {
            if (isSynthetic) {
                new SyntheticTokens(segment).copy(offset + from, count, into, 0);
            } else {
                source.copy(offset + from, count, into, 0);
            }
        }

        private int equalTokens(Piece other, int length) {
            if (tokenAt(0) != other.tokenAt(0)) {
                return 0;
            }
            if (source instanceof TokenIds mine && other.source instanceof TokenIds others) {
                return mine.numEqual(offset, others, other.offset, length);
            }
            var tokens = new int[Math.min(length, CHUNK)];
            var otherTokens = new int[tokens.length];
            for (int at = 0; at < length; at += tokens.length) {
                int count = Math.min(tokens.length, length - at);
                copy(at, count, tokens);
                other.copy(at, count, otherTokens);
                int mismatch = Arrays.mismatch(tokens, 0, count, otherTokens, 0, count);
                if (mismatch >= 0) {
                    return at + mismatch;
                }
            }
            return length;
        }
    }
}
