package understudy.conform.sglang;

import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import understudy.engine.sglang.Peer;

/** Peer whose handshake and transfer last as many turns as a recorded request says. */
final class ScriptedPeer implements Peer {
    private static final int NOT_BEGUN = -1;

    private final int handshakeTurn;
    private final int numTransferTurns;
    private final String failure;
    private final IntSupplier turn;
    private int transferTurn = NOT_BEGUN;
    private @Nullable State end;

    /** Creates the peer of a request. */
    ScriptedPeer(SglangRecording.RecordedRequest request, IntSupplier turn) {
        this.turn = turn;
        handshakeTurn = request.number("arrival_step") + request.number("bootstrap_turns");
        numTransferTurns = request.number("transfer_turns");
        failure = request.text("fail");
    }

    @Override
    public State poll() {
        var ended = end;
        if (ended != null) {
            return ended;
        }
        if (transferTurn == NOT_BEGUN) {
            if (turn.getAsInt() < handshakeTurn) {
                return State.BOOTSTRAPPING;
            }
            return failure.equals("bootstrap") ? endAs(State.FAILED) : State.WAITING_FOR_INPUT;
        }
        if (turn.getAsInt() < transferTurn + numTransferTurns) {
            return State.TRANSFERRING;
        }
        return endAs(failure.equals("transfer") ? State.FAILED : State.SUCCESS);
    }

    private State endAs(State state) {
        end = state;
        return state;
    }

    @Override
    public void abort() {
        end = State.FAILED;
    }

    @Override
    public void onTransferBegun() {
        transferTurn = turn.getAsInt();
    }
}
