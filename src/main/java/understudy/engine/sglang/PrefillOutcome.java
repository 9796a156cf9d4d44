package understudy.engine.sglang;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.radix.PrefixOrder;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.TreeSize;

/** Answer to a {@link PrefillAsk}; filled by the {@link PrefillAdder}, then fixed. */
final class PrefillOutcome implements RadixAnswer {
    @Nullable PrefixOrder order;

    /** Waiting requests that were tried, in order, by their place in the queue after it was sorted. */
    final ObjectArrayList<Trial> trials = new ObjectArrayList<>();

    /** Requests of the batch: {@link PrefillAdder#CHUNK}, or a place in the queue. */
    final IntArrayList added = new IntArrayList();

    /** Tokens up to which each goes, and those that it has already. */
    final IntArrayList ends = new IntArrayList();

    final IntArrayList prefixes = new IntArrayList();

    /** Whether the request whose prefill went on has a rest still. */
    boolean isChunkCut;

    /** The place in the queue of the request whose prefill is cut, or -1. */
    int newChunk = -1;

    boolean isFull;

    /** Whether a request was passed over whose KV is being fetched from the storage. */
    boolean awaitsFetch;

    /** Whether a request could have been put off, and no lack of use let it pass. */
    boolean isDelayable;

    /** Places among the running of those that were preempted, in the order of release. */
    final IntArrayList preempted = new IntArrayList();

    /** The same in the order in which they were chosen. */
    final IntArrayList victims = new IntArrayList();

    /** Time of the copies from the host that begin with the batch. */
    long loadNanos;

    TreeSize tree = TreeSize.NOTHING;
    double tokenUsage;
    int numHitTokens;
    int numInputTokens;

    /**
     * Trial of a waiting request.
     *
     * @param numPrefixTokens tokens found on the device
     * @param hostHit tokens found on the host
     * @param numLoadedPrefix tokens found, with those that were brought back
     */
    record Trial(int place, int numPrefixTokens, int hostHit, int numLoadedPrefix, AddResult result) {}

    List<Trial> trials() {
        return trials;
    }
}
