package understudy.kvcache.radix;

import understudy.kvcache.KvAnswer;

/** Answer of the memory to a {@link RadixAsk}, as a value that the asking engine may keep. */
public interface RadixAnswer extends KvAnswer.OfFamily {
    /** The answer to questions that await none. */
    RadixAnswer DONE = new RadixAnswer() {};

    @Override
    default int numFreeBlocks() {
        return 0;
    }
}
