package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.DraftCounts;
import understudy.kvcache.Settlement;

/** Result of a step. Reused: valid until the next step's result is applied. */
public final class StepResult {
    /** Requests that got a token, without members of the cohort that go on; of those members that end, first. */
    private final ObjectArrayList<EngineRequest> sampledAlone = new ObjectArrayList<>();

    private int numEndedMembers;
    private int numMembers;
    private @Nullable DecodeCohort cohort;

    /** All requests that got a token, if anybody has asked. */
    private @Nullable List<EngineRequest> sampled;

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
     * @param isAlwaysSettled whether the memory has to hear of the end of each step, since blocks may wait for it
     */
    StepResult(int numSpeculativeTokens, boolean isAlwaysSettled) {
        drafts = new DraftCounts.Builder(numSpeculativeTokens);
        this.isAlwaysSettled = isAlwaysSettled;
    }

    /** Returns how many requests got a token. */
    public int numSampled() {
        return numMembers + sampledAlone.size();
    }

    /** Returns how many tokens they got together: one each, but for drafts that were accepted. */
    public int numSampledTokens() {
        return numMembers + numTokensOfAlone;
    }

    /** Returns what has become of the step's drafts; to be asked once. */
    public DraftCounts takeDrafts() {
        return drafts.take();
    }

    DraftCounts.Builder drafts() {
        return drafts;
    }

    /**
     * Returns the requests that got a token, in scheduling order; in time proportional to their number. To be asked for
     * first before any of them is aborted.
     */
    public List<EngineRequest> sampled() {
        if (cohort == null) {
            return sampledAlone;
        }
        if (sampled == null) {
            sampled = withMembers(cohort.executedMembers());
        }
        return sampled;
    }

    /** Returns requests that got a token, in scheduling order; all that got their first are among them. */
    public List<EngineRequest> sampledAlone() {
        return sampledAlone;
    }

    private List<EngineRequest> withMembers(List<EngineRequest> members) {
        var all = new ObjectArrayList<EngineRequest>(numSampled());
        int next = 0;
        for (var member : members) {
            while (next < numEndedMembers && sampledAlone.get(next).runningOrder < member.runningOrder) {
                all.add(sampledAlone.get(next++));
            }
            all.add(member);
        }
        all.addAll(sampledAlone.subList(next, sampledAlone.size()));
        return all;
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

    /** Returns what the KV cache has to be told, or null for nothing. */
    public @Nullable Settlement toSettle() {
        return isAlwaysSettled || !settlement.isEmpty() ? settlement.build() : null;
    }

    Settlement.Builder settlement() {
        return settlement;
    }

    void begin(long step, long atNanos) {
        sampledAlone.clear();
        numTokensOfAlone = 0;
        numEndedMembers = 0;
        numMembers = 0;
        cohort = null;
        sampled = null;
        finished.clear();
        gapNanos.clear();
        gapCounts.clear();
        settlement.begin(step, atNanos);
    }

    void addGap(long nanos) {
        addGaps(nanos, 1);
    }

    private void addGaps(long nanos, int count) {
        int last = gapNanos.size() - 1;
        if (last >= 0 && gapNanos.getLong(last) == nanos) {
            gapCounts.set(last, gapCounts.getInt(last) + count);
        } else {
            gapNanos.add(nanos);
            gapCounts.add(count);
        }
    }

    /** Adds members of the cohort that got a token and go on; those that end are to be added next. */
    void addMembers(DecodeCohort executed, int count, long nanosSinceLastToken) {
        cohort = executed;
        numMembers = count;
        if (count > 0) {
            addGaps(nanosSinceLastToken, count);
        }
    }

    /** Ends the members. */
    void endMembers() {
        numEndedMembers = sampledAlone.size();
    }

    void addSampled(EngineRequest request, int numTokens) {
        sampledAlone.add(request);
        numTokensOfAlone += numTokens;
    }

    void addFinished(EngineRequest request) {
        finished.add(request);
    }
}
