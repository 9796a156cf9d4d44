package understudy.engine.vllm;

/**
 * Known bug: a running request gets no tokens in a step in which a request in front of it was preempted that had none either
 * (vLLM <a href="https://github.com/vllm-project/vllm/issues/49097">issue 49097</a>, repaired by pull request 49206 in July
 * 2026). It needs {@code engine.scheduling-policy = priority}, which may choose a victim in front of the request that
 * needs blocks: the list has become shorter by one, and the loop over it goes on as if it had not.
 */
final class SkippedRequest implements StepRule {
    @Override
    public int next(int index, boolean hasListShifted) {
        return hasListShifted ? index + 1 : index;
    }
}
