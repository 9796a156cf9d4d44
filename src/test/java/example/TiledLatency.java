package example;

import java.util.List;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.Share;
import understudy.settings.Section;

/** A fixed time, and one for each started tile of new tokens. */
public record TiledLatency(double perStepNanos, double perTileNanos, int tileTokens) implements LatencyModel {

    /** Reads {@code latency.tiled}. */
    static TiledLatency read(Section tiled) {
        return new TiledLatency(
                tiled.nanos("per-step"), tiled.nanos("per-tile"), tiled.wholeNumber("tile-tokens", 1, 1 << 20));
    }

    @Override
    public long stepNanos(BatchShape batch) {
        return LatencyModel.roundToNanos(perStepNanos + tilesNanos(batch));
    }

    @Override
    public List<Share> explain(BatchShape batch) {
        return List.of(new Share("step", perStepNanos), new Share("tiles", tilesNanos(batch)));
    }

    private double tilesNanos(BatchShape batch) {
        return perTileNanos * Math.ceil((double) batch.numTokens() / tileTokens);
    }
}
