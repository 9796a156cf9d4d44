package understudy.api.model;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.OutputPlan;
import understudy.prompt.TokenSource;

/**
 * Filter of an answer's tokens: what may not be sampled is replaced, as a model would have gone on with another token.
 *
 * @param allowed the only tokens, or null for all
 * @param banned token sequences that must not come
 */
public record TokenFilter(@Nullable IntList allowed, List<int[]> banned) {
    private static final int MAX_TRIES = 1000;

    /**
     * Returns an answer without what is not allowed. If its end is not, either, it goes on until the limit of tokens.
     *
     * @param others more tokens to take the place of those, one for each number
     */
    Answer filtered(Answer answer, TokenSource others, int endOfSequence) {
        boolean ends = answer.length() != OutputPlan.ENDLESS;
        int numTokens = ends && mayEnd(endOfSequence) ? numTokens(answer, endOfSequence) : Integer.MAX_VALUE;
        int numGiven = ends ? answer.length() - 1 : Integer.MAX_VALUE;
        var filtered =
                new Filtered(index -> index < numGiven ? answer.tokens().tokenAt(index) : -1, others, endOfSequence);
        return numTokens == Integer.MAX_VALUE
                ? Answer.endless(filtered)
                : Answer.ending(filtered, numTokens, endOfSequence, answer.toolCalls());
    }

    /** Returns the length of an answer without its end; 0 if the end is the only token allowed. */
    private int numTokens(Answer answer, int endOfSequence) {
        boolean onlyEnds = allowed != null && allowed.intStream().allMatch(token -> token == endOfSequence);
        return onlyEnds ? 0 : answer.length() - 1;
    }

    private boolean mayEnd(int endOfSequence) {
        boolean isBanned = banned.stream().anyMatch(each -> each.length == 1 && each[0] == endOfSequence);
        return !isBanned && (allowed == null || allowed.contains(endOfSequence));
    }

    /** Tokens that depend on those before them, and so are found one after the other and remembered. Thread-safe. */
    private final class Filtered implements TokenSource {
        private final TokenSource source;
        private final TokenSource others;
        private final IntList choices;
        private final @Nullable IntSet allowedSet;
        private final IntArrayList known = new IntArrayList();

        Filtered(TokenSource source, TokenSource others, int endOfSequence) {
            this.source = source;
            this.others = others;
            allowedSet = allowed == null ? null : new IntOpenHashSet(allowed);
            choices = new IntArrayList();
            if (allowed != null) {
                allowed.forEach(token -> {
                    if (token != endOfSequence) {
                        choices.add(token);
                    }
                });
            }
        }

        @Override
        public synchronized int tokenAt(int index) {
            while (known.size() <= index) {
                known.add(next());
            }
            return known.getInt(index);
        }

        private int next() {
            int index = known.size();
            int given = source.tokenAt(index);
            for (int tries = 0; !isFine(given) && tries < MAX_TRIES; tries++) {
                int other = others.tokenAt(index + tries);
                given = choices.isEmpty() ? other : choices.getInt(Math.floorMod(other, choices.size()));
            }
            return given;
        }

        private boolean isFine(int token) {
            return token >= 0
                    && (allowedSet == null || allowedSet.contains(token))
                    && banned.stream().noneMatch(sequence -> ends(sequence, token));
        }

        private boolean ends(int[] sequence, int token) {
            int last = sequence.length - 1;
            if (sequence[last] != token || known.size() < last) {
                return false;
            }
            for (int i = 0; i < last; i++) {
                if (sequence[i] != known.getInt(known.size() - last + i)) {
                    return false;
                }
            }
            return true;
        }
    }
}
