package understudy.engine.sglang;

/** The other engine of a request that two engines share, as its own one sees it ({@code disaggregation/base/conn.py}). */
public interface Peer {
    /** State of handshake and transfer ({@code KVPoll}). */
    enum State {
        /** The handshake is not done. */
        BOOTSTRAPPING,
        /** The handshake is done. */
        WAITING_FOR_INPUT,
        /** The KV is on its way. */
        TRANSFERRING,
        /** The KV has arrived. */
        SUCCESS,
        /** Handshake or transfer have failed. */
        FAILED
    }

    /** Returns the state. */
    State poll();

    /** Ends it as a failure. */
    void abort();

    /** Starts to wait for the end of the transfer: the last piece was sent, or the places were announced. */
    void onTransferBegun();
}
