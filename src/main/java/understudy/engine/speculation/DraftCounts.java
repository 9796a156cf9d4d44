package understudy.engine.speculation;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.util.Arrays;

/**
 * Counts of verified drafts (vLLM {@code SpecDecodingStats}). Immutable.
 *
 * @param numDrafts verifications: requests that had at least one draft in a step, summed over steps
 * @param numDraftTokens drafts in them
 * @param numAcceptedTokensPerPos how often the draft in each place was accepted, those behind the end of an answer
 *     included
 */
public record DraftCounts(long numDrafts, long numDraftTokens, LongList numAcceptedTokensPerPos) {
    /** Nothing verified. */
    public static final DraftCounts NONE = new DraftCounts(0, 0, LongLists.EMPTY_LIST);

    /** Returns how many drafts were accepted. */
    public long numAcceptedTokens() {
        return numAcceptedTokensPerPos.longStream().sum();
    }

    /** Returns the tokens that a verification brings, the one behind the accepted drafts included; NaN of none. */
    public double meanAcceptanceLength() {
        return 1 + (double) numAcceptedTokens() / numDrafts;
    }

    /** Returns the share of draft tokens that were accepted; NaN of none. */
    public double acceptanceRate() {
        return (double) numAcceptedTokens() / numDraftTokens;
    }

    /** Returns in which share of verifications the draft in a place was accepted; NaN of none. */
    public double acceptanceRateAt(int position) {
        return (double) numAcceptedTokensPerPos.getLong(position) / numDrafts;
    }

    /** Returns the sum of both. */
    public DraftCounts plus(DraftCounts other) {
        if (numDrafts == 0 || other.numDrafts == 0) {
            return numDrafts == 0 ? other : this;
        }
        var perPos = new LongArrayList(numAcceptedTokensPerPos);
        perPos.size(Math.max(perPos.size(), other.numAcceptedTokensPerPos.size()));
        for (int i = 0; i < other.numAcceptedTokensPerPos.size(); i++) {
            perPos.set(i, perPos.getLong(i) + other.numAcceptedTokensPerPos.getLong(i));
        }
        return new DraftCounts(
                numDrafts + other.numDrafts, numDraftTokens + other.numDraftTokens, LongLists.unmodifiable(perPos));
    }

    /** Collects counts; reused from step to step. */
    public static final class Builder {
        private final long[] acceptedPerPos;
        private long numDrafts;
        private long numDraftTokens;

        /** Creates empty counts of so many places. */
        public Builder(int numSpeculativeTokens) {
            acceptedPerPos = new long[numSpeculativeTokens];
        }

        /** Adds the verification of a request's drafts, of which the first ones were accepted. */
        public void add(int drafts, int accepted) {
            numDrafts++;
            numDraftTokens += drafts;
            for (int i = 0; i < accepted; i++) {
                acceptedPerPos[i]++;
            }
        }

        /** Returns the collected counts, and begins anew. */
        public DraftCounts take() {
            if (numDrafts == 0) {
                return NONE;
            }
            var taken = new DraftCounts(numDrafts, numDraftTokens, LongList.of(acceptedPerPos.clone()));
            Arrays.fill(acceptedPerPos, 0);
            numDrafts = 0;
            numDraftTokens = 0;
            return taken;
        }
    }
}
