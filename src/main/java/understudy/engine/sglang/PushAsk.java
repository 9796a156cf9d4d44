package understudy.engine.sglang;

import java.util.List;
import understudy.kvcache.connector.PushWord;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixMemory;

/** Request to the memory to hand words about KV on to that of the other engine; none of them changes this one. */
record PushAsk(List<PushWord> words) implements RadixAsk {

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        memory.say(words);
        return RadixAnswer.DONE;
    }

    @Override
    public boolean awaitsAnswer() {
        return false;
    }
}
