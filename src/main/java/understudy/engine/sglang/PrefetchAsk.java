package understudy.engine.sglang;

import java.util.List;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixLookup;
import understudy.kvcache.radix.RadixMemory;

/**
 * Request to the memory to fetch from the storage behind the host what it can of requests that have come to the queue, and
 * to stop doing so for those that have left it ({@code _prefetch_kvcache}, {@code release_aborted_request}).
 *
 * @param nowNanos how late it is
 * @param left handles of the latter, which others may have by now
 */
record PrefetchAsk(long nowNanos, List<Integer> left, List<Arrival> arrivals) implements RadixAsk {

    /** Request that has come to the queue. */
    record Arrival(RadixLookup lookup, long requestId, int numTokens) {

        static Arrival of(SglangRequest request) {
            return new Arrival(request.lookup, request.request().id(), request.numTokens());
        }
    }

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        memory.setNow(nowNanos);
        left.forEach(memory::dropFetch);
        arrivals.forEach(arrival -> memory.beginFetch(arrival.lookup, arrival.requestId, arrival.numTokens));
        return RadixAnswer.DONE;
    }

    @Override
    public boolean awaitsAnswer() {
        return false;
    }
}
