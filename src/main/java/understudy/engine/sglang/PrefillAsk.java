package understudy.engine.sglang;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.radix.PrefixOrder;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

/**
 * Question which waiting requests are prefilled now: all that {@link PrefillAdder} needs of the scheduler.
 *
 * @param order by which the tree orders the waiting requests first, or null if they are in order
 * @param waiting in order
 * @param chunk the request whose prefill goes on, or null
 * @param running in order; empty where only their number and offset count
 * @param numRunning how many run
 * @param runningOffset tokens that they are expected to need still
 * @param numFreeSlots free rows of the request table
 * @param isFull {@code batch_is_full}
 * @param looksAtWindow whether it is looked who of the running has left the window, if they are taken along
 * @param delays whether waiting requests are put off, unless few tokens are in use
 */
@RecordBuilder
record PrefillAsk(
        SglangConfig config,
        PrefixOrder.@Nullable Kind order,
        List<RequestView> waiting,
        @Nullable RequestView chunk,
        List<RequestView> running,
        int numRunning,
        double runningOffset,
        double newTokenRatio,
        int numFreeSlots,
        boolean isFull,
        boolean looksAtWindow,
        boolean delays)
        implements RadixAsk {

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        var outcome = new PrefillAdder(this, memory).add();
        outcome.tree = memory.treeSize();
        outcome.tokenUsage = memory.tokenUsage();
        return outcome;
    }
}
