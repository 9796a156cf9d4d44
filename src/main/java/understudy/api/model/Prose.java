package understudy.api.model;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import understudy.prompt.TokenSource;

/**
 * Endless synthetic text whose tokens are a pure function of a seed, and whose text, encoded again, gives back the very
 * same tokens. So a chat that sends an answer back finds its blocks in the cache.
 *
 * <p>That holds because every token is a piece of its own to the encoding: a word with its leading space, or a mark
 * behind a word. Every sentence has twelve tokens.
 */
final class Prose {
    private static final int SENTENCE = 12;
    private static final int COMMA = 5;

    private final int[] words;
    private final int[] opening;
    private final int[] capitals;
    private final int period;
    private final int comma;

    Prose(Tokenizer tokenizer) {
        var lower = new IntArrayList();
        var first = new IntArrayList();
        var upper = new IntArrayList();
        for (String word : CommonWords.ALL) {
            String capital = Character.toUpperCase(word.charAt(0)) + word.substring(1);
            var spaced = tokenizer.encode(" " + word);
            var bare = tokenizer.encode(capital);
            var spacedCapital = tokenizer.encode(" " + capital);
            if (spaced.length == 1 && bare.length == 1 && spacedCapital.length == 1) {
                lower.add(spaced[0]);
                first.add(bare[0]);
                upper.add(spacedCapital[0]);
            }
        }
        if (lower.isEmpty()) {
            lower.addAll(anyTokens(tokenizer));
            first.addAll(lower);
            upper.addAll(lower);
        }
        words = lower.toIntArray();
        opening = first.toIntArray();
        capitals = upper.toIntArray();
        period = mark(tokenizer, ".");
        comma = mark(tokenizer, ",");
    }

    /** Returns the tokens of all words, for vocabularies so small that words are not tokens. */
    private static IntArrayList anyTokens(Tokenizer tokenizer) {
        var tokens = new IntArrayList();
        for (String word : CommonWords.ALL) {
            tokens.addElements(tokens.size(), tokenizer.encode(word));
        }
        if (tokens.isEmpty()) {
            tokens.add(0);
        }
        return tokens;
    }

    private int mark(Tokenizer tokenizer, String text) {
        int[] tokens = tokenizer.encode(text);
        return tokens.length == 0 ? words[0] : tokens[tokens.length - 1];
    }

    /**
     * Returns a text.
     *
     * @param continuesText whether it stands behind other text, and so begins with a space
     */
    TokenSource tokens(long seed, boolean continuesText) {
        return index -> tokenAt(seed, index, continuesText);
    }

    private int tokenAt(long seed, int index, boolean continuesText) {
        long hash = HashCommon.murmurHash3(seed + index);
        int place = index % SENTENCE;
        if (place == SENTENCE - 1) {
            return period;
        }
        if (place == COMMA && hash < 0) {
            return comma;
        }
        int word = (int) ((hash >>> 1) % words.length);
        if (place > 0) {
            return words[word];
        }
        return index > 0 || continuesText ? capitals[word] : opening[word];
    }
}
