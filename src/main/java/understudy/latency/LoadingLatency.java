package understudy.latency;

import java.util.ArrayList;
import java.util.List;

/**
 * Another model's time, and at least that of the copies from the host for which a step waits layer by layer.
 *
 * @param model time of a step without copies
 */
public record LoadingLatency(LatencyModel model) implements LatencyModel {

    @Override
    public long stepNanos(BatchShape batch) {
        return Math.max(model.stepNanos(batch), batch.loadNanos());
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        var shares = new ArrayList<>(model.explain(batch));
        shares.add(new Share("wait for the host", stepNanos(batch) - model.stepNanos(batch)));
        return shares;
    }
}
