package understudy.kvcache.radix;

import understudy.kvcache.KvAsk;

/**
 * Question of SGLang's scheduler to its memory: a value that carries its rule along.
 *
 * <p>SGLang decides with the memory at hand: {@code PrefillAdder} reads what is free and what is evictable after each
 * request that it locks, and retraction after each that it releases. A question for each request would be an exchange
 * for each, and answers that say enough to go on without one would be a copy of the tree. So a question has all that
 * the rule needs of the scheduler, copied when it was asked, and the memory runs the rule, in one exchange for a whole
 * prefill attempt, a whole decode batch, or a whole retraction. The rule sees nothing of the scheduler, and the
 * scheduler sees nothing of the memory but the answer.
 */
@FunctionalInterface
public interface RadixAsk extends KvAsk.OfFamily {

    /** Decides, and does with the memory what is decided. */
    RadixAnswer decide(RadixMemory memory);

    /** Returns whether the scheduler must know the answer before it can go on. */
    @Override
    default boolean awaitsAnswer() {
        return true;
    }
}
