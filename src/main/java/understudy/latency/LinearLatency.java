package understudy.latency;

/**
 * A sum of four terms, all in nanoseconds and all at least 0. Easy to reason about; it knows no plateau, so a small
 * batch costs the fixed term and little else.
 *
 * @param perStepNanos every step, for instance reading the weights once and the host's work
 * @param perTokenNanos every new token, prompt or output
 * @param perDecodeSeqNanos every sequence that computes exactly one token
 * @param perKvTokenNanos every token that a decode attends to
 */
public record LinearLatency(double perStepNanos, double perTokenNanos, double perDecodeSeqNanos, double perKvTokenNanos)
        implements LatencyModel {

    @Override
    public long stepNanos(BatchShape batch) {
        return LatencyModel.roundToNanos(perStepNanos
                + perTokenNanos * batch.numTokens()
                + perDecodeSeqNanos * batch.numDecodes()
                + perKvTokenNanos * batch.decodeKvTokens());
    }
}
