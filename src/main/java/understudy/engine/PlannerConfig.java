package understudy.engine;

import understudy.kvcache.KvCacheConfig;

/** The settings of one kind of engine, and the way to its planner. */
public interface PlannerConfig {

    /** Creates a planner without requests, for a replica with this KV cache. */
    Planner createPlanner(KvCacheConfig kvCache);

    /** Returns the most requests that one step serves, at least 1. */
    int maxNumSeqs();

    /** Returns the most tokens that one step computes if no sequence is longer than {@code maxModelLen}, at least 1. */
    public int maxNumBatchedTokens(int maxModelLen);

    /** Returns how many planned steps may be without a result at a time, at least 1. */
    int maxStepsInFlight();

    /** Returns how many drafts a request may have in a step; 0 is no speculative decoding. */
    default int numSpeculativeTokens() {
        return 0;
    }
}
