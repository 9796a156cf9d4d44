package understudy.latency;

import java.util.ArrayList;
import java.util.List;

/**
 * Another model's time, and that of making drafts behind each step in which a sequence samples.
 *
 * @param target time of the target model, which verifies
 * @param draftsNanos time of all drafts of a step, at least 0
 */
public record DraftingLatency(LatencyModel target, double draftsNanos) implements LatencyModel {

    @Override
    public long stepNanos(BatchShape batch) {
        return LatencyModel.roundToNanos(target.stepNanos(batch) + nanos(batch));
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        var shares = new ArrayList<>(target.explain(batch));
        shares.add(new Share("drafts", nanos(batch)));
        return shares;
    }

    private double nanos(BatchShape batch) {
        return batch.numSampled() == 0 ? 0 : draftsNanos;
    }
}
