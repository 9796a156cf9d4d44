package understudy.engine.sglang;

/**
 * Peer in a run, of which the memory tells: each word of its ends what the request waits for. To an engine that decodes it
 * means that the handshake is done, then that the KV has arrived; to one that computes prompts, that there are places for the
 * KV, then that it has arrived there.
 */
final class RunPeer implements Peer {
    private State state = State.BOOTSTRAPPING;

    @Override
    public State poll() {
        return state;
    }

    /** What the request waits for has happened. */
    void hear() {
        if (state == State.BOOTSTRAPPING) {
            state = State.WAITING_FOR_INPUT;
        } else if (state == State.TRANSFERRING) {
            state = State.SUCCESS;
        }
    }

    @Override
    public void abort() {
        state = State.FAILED;
    }

    @Override
    public void onTransferBegun() {
        if (state != State.FAILED) {
            state = State.TRANSFERRING;
        }
    }
}
