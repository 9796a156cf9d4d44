package understudy.kvcache.radix;

/** Answer of the memory to a {@link RadixAsk}: a value of whoever asked. */
public interface RadixAnswer {
    /** The answer to questions that await none. */
    RadixAnswer DONE = new RadixAnswer() {};
}
