package understudy.latency;

import java.util.List;
import understudy.settings.Section;

/**
 * A device in five numbers, to be fitted to a handful of measured steps: {@code sqrt(c0^2 + (c1 m)^2) + c2 S + c3 A +
 * c4 S [if there are prefill chunks]}, with m new tokens, S the tokens that decodes attend to, and A the token pairs of
 * prefill attention, {@code q c + q^2 / 2} for a chunk of q tokens behind c cached ones.
 *
 * <p>The root joins the plateau of a small batch, which waits for the weights to be read, to the slope of a large one,
 * which computes. All coefficients are nanoseconds and at least 0.
 *
 * @param weightsNanos c0: the plateau, a step with next to nothing to compute
 * @param perTokenNanos c1: the slope per new token of a large batch
 * @param perKvTokenNanos c2: each token that a decode attends to
 * @param perAttentionPairNanos c3: each pair of tokens in prefill attention
 * @param perMixedKvTokenNanos c4: extra time for a token that a decode attends to when chunks share the step
 */
public record ProfileLatency(
        double weightsNanos,
        double perTokenNanos,
        double perKvTokenNanos,
        double perAttentionPairNanos,
        double perMixedKvTokenNanos)
        implements LatencyModel {
    /** Five numbers of a file that has none. */
    public static final ProfileLatency NONE = new ProfileLatency(0, 0, 0, 0, 0);

    /** Reads the five numbers. */
    public static ProfileLatency read(Section profile) {
        return new ProfileLatency(
                profile.nanos("weights"),
                profile.nanos("per-token"),
                profile.nanos("per-kv-token"),
                profile.nanos("per-attention-pair"),
                profile.nanos("per-mixed-kv-token"));
    }

    @Override
    public long stepNanos(BatchShape batch) {
        return LatencyModel.roundToNanos(nanos(batch));
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        return List.of(new Share("linear", linearNanos(batch)), new Share("attention", attentionNanos(batch)));
    }

    double nanos(BatchShape batch) {
        return linearNanos(batch) + attentionNanos(batch);
    }

    private double linearNanos(BatchShape batch) {
        double compute = perTokenNanos * batch.numTokens();
        return Math.sqrt(weightsNanos * weightsNanos + compute * compute);
    }

    private double attentionNanos(BatchShape batch) {
        double perKvToken = perKvTokenNanos + (batch.numChunks() > 0 ? perMixedKvTokenNanos : 0);
        return perKvToken * batch.decodeKvTokens() + perAttentionPairNanos * attentionPairs(batch);
    }

    private static double attentionPairs(BatchShape batch) {
        double pairs = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            double tokens = batch.chunkTokens(i);
            pairs += tokens * batch.chunkContextTokens(i) + tokens * tokens / 2;
        }
        return pairs;
    }
}
