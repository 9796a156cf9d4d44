package understudy.latency.lora;

import java.util.ArrayList;
import java.util.List;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.Share;

/**
 * Another model's time, and that of the LoRA adapters of the step.
 *
 * @param base time of the model without adapters
 * @param cost time that they add
 */
public record LoraLatency(LatencyModel base, LoraCost cost) implements LatencyModel {

    @Override
    public long stepNanos(BatchShape batch) {
        return LatencyModel.roundToNanos(
                base.stepNanos(batch) + cost.kernels().nanos(batch) + cost.loadingNanos(batch.loras()));
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        var shares = new ArrayList<>(base.explain(batch));
        shares.add(new Share("LoRA kernels", cost.kernels().nanos(batch)));
        shares.add(new Share("LoRA loading", cost.loadingNanos(batch.loras())));
        return shares;
    }

    @Override
    public List<String> sources() {
        return base.sources();
    }

    @Override
    public List<String> warnings(int maxTokens, int maxSequences, int maxContext) {
        return base.warnings(maxTokens, maxSequences, maxContext);
    }
}
