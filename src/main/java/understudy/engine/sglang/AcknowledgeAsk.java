package understudy.engine.sglang;

import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

/** Request to the memory to acknowledge the copies that are done, before a prefill is tried ({@code check_hicache_events}). */
record AcknowledgeAsk() implements RadixAsk {
    static final AcknowledgeAsk INSTANCE = new AcknowledgeAsk();

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        memory.acknowledgeWrites();
        memory.acknowledgeLoads();
        return RadixAnswer.DONE;
    }

    @Override
    public boolean awaitsAnswer() {
        return false;
    }
}
