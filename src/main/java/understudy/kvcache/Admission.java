package understudy.kvcache;

import understudy.kvcache.connector.ExternalMatch;

/** The KV cache's answer to an {@link AdmissionRequest}. */
public sealed interface Admission {

    /**
     * The request holds blocks for its cached tokens and for those of this step.
     *
     * @param numCachedTokens leading tokens whose KV was found: whole blocks, or all of them after a full hit
     * @param external those of them that have come from elsewhere; none for a request that has waited for them
     * @param numScheduledTokens tokens to compute in this step; after a full hit the one of a decode step, or 0 if the
     *     prompt's last logits were found too and nothing is computed
     * @param events outcome of the prefix lookup, for the counters of hits and misses
     * @param numJunctionTokens leading tokens that are cached for some layers only, if more than for all; else 0
     */
    record Admitted(
            int numCachedTokens,
            ExternalMatch external,
            int numScheduledTokens,
            PrefixCacheEvents events,
            int numJunctionTokens)
            implements Admission {

        /** Admits a request of a memory in which all layers find the same. */
        public Admitted(int numCachedTokens, ExternalMatch external, int numScheduledTokens, PrefixCacheEvents events) {
            this(numCachedTokens, external, numScheduledTokens, events, 0);
        }

        public Admitted(int numCachedTokens, int numScheduledTokens, PrefixCacheEvents events) {
            this(numCachedTokens, ExternalMatch.NONE, numScheduledTokens, events);
        }
    }

    /**
     * The request holds blocks for leading tokens whose KV is on its way; it can be admitted when that has come.
     *
     * @param numCachedTokens leading tokens whose KV is here or on its way
     * @param external those of them that are on their way
     * @param events outcome of the prefix lookup, for the counters of hits and misses
     */
    record Loading(int numCachedTokens, ExternalMatch external, PrefixCacheEvents events) implements Admission {}

    /** Nothing was changed: it is not known yet how much KV can come from elsewhere. Others may go first. */
    record Deferred() implements Admission {}

    /** Nothing was changed: there are too few free blocks, or the prompt does not fit the budget and may not be cut. */
    record Refused() implements Admission {}
}
