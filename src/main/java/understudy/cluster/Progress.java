package understudy.cluster;

/** How far a run has come, for an observer on another thread. */
public final class Progress {
    private volatile long numEnded;

    /** Returns how many requests have ended. */
    public long numEnded() {
        return numEnded;
    }

    void setNumEnded(long count) {
        numEnded = count;
    }
}
