package understudy.latency;

import java.util.List;

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
        return LatencyModel.roundToNanos(
                perStepNanos + tokensNanos(batch) + decodeSeqsNanos(batch) + kvTokensNanos(batch));
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        return List.of(
                new Share("step", perStepNanos),
                new Share("tokens", tokensNanos(batch)),
                new Share("decode sequences", decodeSeqsNanos(batch)),
                new Share("KV tokens", kvTokensNanos(batch)));
    }

    private double tokensNanos(BatchShape batch) {
        return perTokenNanos * batch.numTokens();
    }

    private double decodeSeqsNanos(BatchShape batch) {
        return perDecodeSeqNanos * batch.numDecodes();
    }

    private double kvTokensNanos(BatchShape batch) {
        return perKvTokenNanos * batch.decodeKvTokens();
    }
}
