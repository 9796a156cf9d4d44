package understudy.engine.sglang;

import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

/**
 * Request to the memory to acknowledge the copies that are done, before a prefill is tried ({@code check_hicache_events}).
 *
 * <p>If nothing runs, SGLang's turns go on in vain until a copy is done that holds what the next request needs; here copies
 * are then acknowledged at once.
 *
 * @param nowNanos how late it is
 * @param isIdle whether nothing runs
 */
record AcknowledgeAsk(long nowNanos, boolean isIdle) implements RadixAsk {

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        memory.setNow(nowNanos);
        if (isIdle) {
            memory.finishCopies();
        }
        memory.acknowledgeWrites();
        memory.acknowledgeLoads();
        return RadixAnswer.DONE;
    }

    @Override
    public boolean awaitsAnswer() {
        return false;
    }
}
