package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.DraftCounts;
import understudy.kvcache.Settlement;

/** Result of a step. Reused: valid until the next step's result is applied. */
public class StepResult {
    private final ObjectArrayList<EngineRequest> sampledAlone = new ObjectArrayList<>();

    private final ObjectArrayList<EngineRequest> finished = new ObjectArrayList<>();
    private final LongArrayList gapNanos = new LongArrayList();
    private final IntArrayList gapCounts = new IntArrayList();
    private final Settlement.Builder settlement = new Settlement.Builder();
    private final boolean isAlwaysSettled;
    private final DraftCounts.Builder drafts;
    private int numTokensOfAlone;

    /**
     * Creates an empty result.
     *
     * @param numSpeculativeTokens most drafts per request
     * @param isAlwaysSettled whether the memory has to be told the end of each step, since blocks may wait for it
     */
    public StepResult(int numSpeculativeTokens, boolean isAlwaysSettled) {
        drafts = new DraftCounts.Builder(numSpeculativeTokens);
        this.isAlwaysSettled = isAlwaysSettled;
    }

    /** Returns how many requests got a token. */
    public int numSampled() {
        return sampledAlone.size();
    }

    /** Returns how many tokens they got together: one each, but for drafts that were accepted. */
    public int numSampledTokens() {
        return numTokensOfAlone;
    }

    /** Returns the counts of the step's drafts and clears them; to be called once per step. */
    public DraftCounts takeDrafts() {
        return drafts.take();
    }

    /** Returns the builder of the counts of drafts. */
    public DraftCounts.Builder drafts() {
        return drafts;
    }

    /**
     * Returns the requests that got a token, in scheduling order; in time proportional to their number. To be asked for
     * first before any of them is aborted.
     */
    public List<EngineRequest> sampled() {
        return sampledAlone;
    }

    /** Returns requests that got a token, in scheduling order; all that got their first are among them. */
    public List<EngineRequest> sampledAlone() {
        return sampledAlone;
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

    /** Returns the message for the KV memory about the step, or null for none. */
    public @Nullable Settlement toSettle() {
        return isAlwaysSettled || !settlement.isEmpty() ? settlement.build() : null;
    }

    /** Returns the builder of the message for the KV memory. */
    public Settlement.Builder settlement() {
        return settlement;
    }

    /** Empties the result, for the step with this number, which ran until {@code atNanos}. */
    public void begin(long step, long atNanos) {
        sampledAlone.clear();
        numTokensOfAlone = 0;
        finished.clear();
        gapNanos.clear();
        gapCounts.clear();
        settlement.begin(step, atNanos);
    }

    /** Adds the gap between a token of this step and the same request's token before. */
    public void addGap(long nanos) {
        addGaps(nanos, 1);
    }

    /** Adds so many equal gaps. */
    protected final void addGaps(long nanos, int count) {
        int last = gapNanos.size() - 1;
        if (last >= 0 && gapNanos.getLong(last) == nanos) {
            gapCounts.set(last, gapCounts.getInt(last) + count);
        } else {
            gapNanos.add(nanos);
            gapCounts.add(count);
        }
    }

    /** Adds a request that got so many tokens. */
    public void addSampled(EngineRequest request, int numTokens) {
        sampledAlone.add(request);
        numTokensOfAlone += numTokens;
    }

    /** Adds a request that has ended. */
    public void addFinished(EngineRequest request) {
        finished.add(request);
    }
}
