package understudy.kvcache;

import it.unimi.dsi.fastutil.ints.IntList;

/** The answer of a KV memory to a {@link KvAsk}. */
public sealed interface KvAnswer {

    /**
     * The first {@code numGranted} requests of a reservation hold their blocks now; nothing has changed for the others.
     */
    record Reserved(int numGranted, double usage) implements KvAnswer {}

    /** A waiting request was admitted or refused. */
    record Admitted(Admission admission, double usage) implements KvAnswer {}

    /** Counts of the leading tokens of each request that are cached, in the order of the question. */
    record Matched(IntList numCachedTokens, double usage) implements KvAnswer {}

    /** The blocks of a preempted request are free. */
    record Released(double usage) implements KvAnswer {}

    /** Returns the share of usable blocks that requests hold after the answer, 0 to 1. */
    double usage();
}
