package understudy.jsonsample;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.function.Function;

/**
 * Encodes a text piece by piece, so that it can stop at any time, and so that no run of like characters is merged as a
 * whole: that takes hundreds of bytes for each of its characters, and the more time for each the longer it is.
 *
 * <p>A piece ends behind a letter or a digit, before a character that neither vocabulary joins to it; the tokens are
 * those of the whole text then. Only where no piece can end so it is cut anywhere, and there may be another token, much
 * as the tokenizer of Llama 3 cuts runs of 25,000 characters ({@code llama/tokenizer.py}).
 */
public final class TextPieces {
    private final String text;
    private final int maxChars;
    private final Function<String, int[]> encoder;
    private String latest = "";
    private int[] latestTokens = {};

    /**
     * Takes a text.
     *
     * @param maxChars length of the longest piece, at least 2
     */
    public TextPieces(String text, int maxChars, Function<String, int[]> encoder) {
        this.text = text;
        this.maxChars = maxChars;
        this.encoder = encoder;
    }

    /** Returns the first {@code most} tokens. */
    public int[] firstTokens(int most) {
        var tokens = new IntArrayList();
        for (int start = 0, end; start < text.length() && tokens.size() < most; start = end) {
            end = end(start);
            tokens.addElements(tokens.size(), encode(start, end));
        }
        tokens.size(Math.min(most, tokens.size()));
        return tokens.toIntArray();
    }

    /** Returns the last {@code most} tokens. */
    public int[] lastTokens(int most) {
        var pieces = new ArrayList<int[]>();
        long numTokens = 0;
        for (int end = text.length(), start; end > 0 && numTokens < most; end = start) {
            start = start(end);
            int[] piece = encode(start, end);
            pieces.add(piece);
            numTokens += piece.length;
        }
        Collections.reverse(pieces);
        var tokens = new IntArrayList();
        pieces.forEach(piece -> tokens.addElements(tokens.size(), piece));
        tokens.removeElements(0, Math.max(0, tokens.size() - most));
        return tokens.toIntArray();
    }

    /** The longest texts that fit into a context consist of like pieces: a token of theirs is a hundred spaces. */
    private int[] encode(int start, int end) {
        if (!text.regionMatches(start, latest, 0, end - start) || latest.length() != end - start) {
            latest = text.substring(start, end);
            latestTokens = encoder.apply(latest);
        }
        return latestTokens;
    }

    private int end(int start) {
        int last = start + maxChars;
        if (last >= text.length()) {
            return text.length();
        }
        for (int i = last; i > start; i--) {
            if (isEnd(i)) {
                return i;
            }
        }
        return splitsCharacter(last) ? last - 1 : last;
    }

    private int start(int end) {
        int first = end - maxChars;
        if (first <= 0) {
            return 0;
        }
        for (int i = first; i < end; i++) {
            if (isEnd(i)) {
                return i;
            }
        }
        return splitsCharacter(first) ? first + 1 : first;
    }

    private boolean splitsCharacter(int index) {
        return Character.isSurrogatePair(text.charAt(index - 1), text.charAt(index));
    }

    private boolean isEnd(int index) {
        char before = text.charAt(index - 1);
        char behind = text.charAt(index);
        // An apostrophe may begin a suffix; beyond ASCII there are marks and numerals that belong to what is before
        // them.
        boolean isPlain = behind < 0x80 ? behind != '\'' : Character.getType(behind) == Character.OTHER_PUNCTUATION;
        return isPlain
                && (Character.isLetter(before)
                        ? !Character.isLetter(behind)
                        : Character.isDigit(before) && !Character.isDigit(behind));
    }
}
