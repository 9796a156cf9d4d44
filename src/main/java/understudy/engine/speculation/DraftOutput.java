package understudy.engine.speculation;

import it.unimi.dsi.fastutil.ints.IntList;

/**
 * Part of a step's output that is about drafts (vLLM {@code ModelRunnerOutput} and {@code DraftTokenIds}), by place in
 * the plan. Immutable.
 *
 * @param accepted how many drafts of each scheduled request the target model has accepted
 * @param proposed how many drafts each has for its next step; ignored with asynchronous scheduling
 */
public record DraftOutput(IntList accepted, IntList proposed) {
    /** Of a device that does not speculate. */
    public static final DraftOutput NONE = new DraftOutput(IntList.of(), IntList.of());
}
