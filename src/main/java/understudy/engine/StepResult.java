package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import understudy.kvcache.Settlement;

/** Result of a step. Reused: valid until the next step's result is applied. */
public final class StepResult {
    private final ObjectArrayList<EngineRequest> sampled = new ObjectArrayList<>();
    private final ObjectArrayList<EngineRequest> finished = new ObjectArrayList<>();
    private final LongArrayList gapNanos = new LongArrayList();
    private final IntArrayList gapCounts = new IntArrayList();
    private final Settlement.Builder settlement = new Settlement.Builder();

    StepResult() {}

    /** Returns the requests that got a token, in scheduling order. */
    public List<EngineRequest> sampled() {
        return sampled;
    }

    /** Returns the requests that ended, in scheduling order. */
    public List<EngineRequest> finished() {
        return finished;
    }

    /** Returns the gaps between a token of this step and the same request's token before, as runs of equal values. */
    public LongArrayList gapNanos() {
        return gapNanos;
    }

    /** Returns how long each run of {@link #gapNanos()} is. */
    public IntArrayList gapCounts() {
        return gapCounts;
    }

    /** Returns what the KV cache has to be told; it may be empty. */
    public Settlement.Builder settlement() {
        return settlement;
    }

    void begin(long step, long atNanos) {
        sampled.clear();
        finished.clear();
        gapNanos.clear();
        gapCounts.clear();
        settlement.begin(step, atNanos);
    }

    void addGap(long nanos) {
        int last = gapNanos.size() - 1;
        if (last >= 0 && gapNanos.getLong(last) == nanos) {
            gapCounts.set(last, gapCounts.getInt(last) + 1);
        } else {
            gapNanos.add(nanos);
            gapCounts.add(1);
        }
    }

    void addSampled(EngineRequest request) {
        sampled.add(request);
    }

    void addFinished(EngineRequest request) {
        finished.add(request);
    }
}
