package understudy.engine;

import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Rules by which the ranks of a data-parallel group, which step together, plan their turns. A value.
 *
 * @param agreement makes what the ranks of one group agree by, or null if each plans for itself
 * @param areAhead whether a turn is agreed on while the step before it runs; else when that has ended
 * @param separatesPrefills whether a rank without a prefill sits out a step in which another one has one
 */
public record RankRules(@Nullable Supplier<Agreement> agreement, boolean areAhead, boolean separatesPrefills) {
    /** Each rank plans for itself, and runs what it has planned. */
    public static final RankRules NONE = new RankRules(null, false, false);

    /** What a rank says of itself before it plans a turn. A value; only its family of engines knows what is in it. */
    public interface Word {}

    /**
     * What all ranks keep to in a turn.
     *
     * @param skipsPrefills whether no rank tries to prefill
     * @param delaysPrefills whether what waits is put off, as far as a rank tries to prefill
     */
    public record Turn(boolean skipsPrefills, boolean delaysPrefills) {
        /** Each rank does as it likes. */
        public static final Turn FREE = new Turn(false, false);

        /** Returns whether prefills may be left out that there is room for. */
        public boolean putsOffPrefills() {
            return skipsPrefills || delaysPrefills;
        }
    }

    /** Memory of what the ranks of one group have agreed on. */
    @FunctionalInterface
    public interface Agreement {

        /**
         * Returns what all ranks keep to in their next turn.
         *
         * @param words of the ranks that have something to plan
         * @param numRanks all ranks that are there
         * @param hasPrefilled whether a rank has planned a prefill in the turn before
         */
        Turn next(Collection<? extends Word> words, int numRanks, boolean hasPrefilled, long nowNanos);
    }
}
