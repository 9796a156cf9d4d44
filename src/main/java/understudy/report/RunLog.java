package understudy.report;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import understudy.report.latency.TokenGaps;

/** Log of a run in progress: the requests that ended, and figures of every step. */
public final class RunLog {
    private final RequestLog requests;
    private final TokenGaps gaps = new TokenGaps();
    private final TokenRate outputRate = new TokenRate();
    private final OwnCourse course = new OwnCourse();
    private long stepDigest;

    /** Creates an empty log. */
    public RunLog(boolean keepsTokenTimes) {
        requests = new RequestLog(keepsTokenTimes);
    }

    /**
     * Records a step of a replica.
     *
     * @param endNanos virtual time
     * @param numTokens tokens that it computed
     * @param numSampled requests that got a token of their answer
     */
    public void addStep(int replicaIndex, long endNanos, int numTokens, int numSampled) {
        outputRate.add(endNanos, numSampled);
        long step = HashCommon.mix(endNanos * 31 + replicaIndex) + ((long) numTokens << 32) + numSampled;
        stepDigest = HashCommon.mix(stepDigest ^ step);
    }

    /** Counts inter-token gaps, given as runs of equal values and the lengths of these runs. */
    public void addGaps(LongList nanos, IntList counts) {
        for (int i = 0; i < nanos.size(); i++) {
            gaps.add(nanos.getLong(i), counts.getInt(i));
        }
    }

    public void addRequest(RequestRecord ended) {
        requests.add(ended);
    }

    public RequestLog requests() {
        return requests;
    }

    public TokenGaps gaps() {
        return gaps;
    }

    public TokenRate outputRate() {
        return outputRate;
    }

    /** Returns the course of what only some families of engines have. */
    public OwnCourse course() {
        return course;
    }

    /** Returns a hash over all steps in their order: who ended when, with how many tokens. */
    public long stepDigest() {
        return stepDigest;
    }
}
