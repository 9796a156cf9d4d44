package understudy.faults;

/** Actions of a replica that orders ask for; see {@link ReplicaOrder#on}. */
public interface ReplicaActions {

    /** Steps that begin from now on take {@code factor} times as long as the model says. */
    void slowDown(double factor);

    /** Steps that begin from now on take {@code nanos} longer than that. */
    void delaySteps(long nanos);

    /** The KV memory has this many blocks from now on, the null block included. */
    void resizeKv(int numGpuBlocks);

    /** The host memory loses this share of the chunks that are not being moved. */
    void loseHostKv(double share);

    /** The link to host memory has a fault from now on. */
    void setHostLink(Fault.OfLinks fault);

    /** Forgets all cached content; see {@link ReplicaOrder.ResetPrefixCache}. */
    void resetPrefixCache(boolean resetsRunning);

    void sleep(FleetChange.Sleep sleep);

    /** Is done when the replica has fallen asleep; see {@link ReplicaOrder.AwaitAsleep}. */
    void awaitAsleep();

    void wakeUp();

    /** Is done when the adapter has been read, or is forgotten; see {@link ReplicaOrder.OfAdapter}. */
    void changeAdapter(ReplicaOrder.OfAdapter change);
}
