package understudy.kvcache;

import it.unimi.dsi.fastutil.ints.IntList;

/** The answer of a KV memory to a {@link KvAsk}. */
public sealed interface KvAnswer {

    /**
     * The first {@code numGranted} requests of a reservation hold their blocks now; nothing has changed for the others.
     */
    record Reserved(int numGranted, int numFreeBlocks) implements KvAnswer {}

    /** A waiting request was admitted or refused. */
    record Admitted(Admission admission, int numFreeBlocks) implements KvAnswer {}

    /** Counts of the leading tokens of each request that are cached, in the order of the question. */
    record Matched(IntList numCachedTokens, int numFreeBlocks) implements KvAnswer {}

    /** The blocks of a preempted request are free. */
    record Released(int numFreeBlocks) implements KvAnswer {}

    /** The plan is ended, and its step may run. */
    record PlanEnded(int numFreeBlocks) implements KvAnswer {}

    /** The answer to a {@link KvAsk.OfFamily}, a value that only the engines of the same family read. */
    non-sealed interface OfFamily extends KvAnswer {}

    /** Returns {@link KvCache#numFreeBlocks} after the answer. */
    int numFreeBlocks();
}
