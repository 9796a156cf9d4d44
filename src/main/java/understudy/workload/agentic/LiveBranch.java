package understudy.workload.agentic;

import java.util.Arrays;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;
import understudy.workload.agentic.AgenticSession.Branch;
import understudy.workload.agentic.AgenticSession.Turn;

/** Agent or sub-agent of a session that is being played: how far it is, and its latest prompt. */
final class LiveBranch {
    /** Progress of a branch. */
    enum State {
        NOT_STARTED,
        GOES_ON,
        WAITS_FOR_SUB_AGENTS,
        IS_DONE
    }

    private final SessionPlay play;
    private final Branch branch;
    private final int index;
    private State state = State.NOT_STARTED;
    private long readyNanos;
    private SegmentedTokens prompt = SegmentedTokens.EMPTY;
    private double firstPauseSeconds;
    private int numSkipped;
    private int numTurns;

    LiveBranch(SessionPlay play, int index) {
        this.play = play;
        this.index = index;
        branch = play.session().branches().get(index);
        firstPauseSeconds = branch.delaySeconds();
    }

    SessionPlay play() {
        return play;
    }

    Branch branch() {
        return branch;
    }

    State state() {
        return state;
    }

    void setState(State state) {
        this.state = state;
    }

    /** Returns when the next turn would have been sent if it did not wait for sub-agents. */
    long readyNanos() {
        return readyNanos;
    }

    void waitFrom(long atNanos) {
        state = State.WAITS_FOR_SUB_AGENTS;
        readyNanos = atNanos;
    }

    /** Returns the number of its conversation among all. */
    long conversation() {
        return play.firstConversation() + index;
    }

    /** Returns how many turns were taken or skipped. */
    int numTurns() {
        return numTurns;
    }

    int numTurnsLeft() {
        return branch.turns().size() - numTurns;
    }

    /** Returns the turn that comes next; there must be one. */
    Turn nextTurn() {
        return branch.turns().get(numTurns);
    }

    /** Returns the turn that was taken or skipped last; there must be one. */
    Turn lastTurn() {
        return branch.turns().get(numTurns - 1);
    }

    /** Returns how long it takes from the answer before, or from the start, to the next turn. */
    double pauseSeconds() {
        return numTurns == numSkipped ? firstPauseSeconds : nextTurn().thinkSeconds();
    }

    /** Skips all turns before a time; a branch that has begun by then goes on. */
    void skipTo(double startSeconds) {
        while (numTurnsLeft() > 0 && nextTurn().startSeconds() < startSeconds) {
            takePrompt();
        }
        numSkipped = numTurns;
        if (numTurns > 0) {
            state = numTurnsLeft() == 0 ? State.IS_DONE : State.GOES_ON;
            firstPauseSeconds = numTurnsLeft() == 0 ? 0 : nextTurn().startSeconds() - startSeconds;
        }
    }

    /** Gives up all turns that are left. */
    void drop() {
        numTurns = branch.turns().size();
        state = State.IS_DONE;
    }

    /** Returns the latest prompt. */
    SegmentedTokens prompt() {
        return prompt;
    }

    /** Takes the next turn, and returns its prompt. */
    SegmentedTokens takePrompt() {
        var turn = nextTurn();
        long[] ids = turn.moreIds().toLongArray();
        if (numTurns == 0) {
            play.shareSystemPrompt(ids, branch.numSystemTokens(), index);
        }
        boolean hasTail = (long) turn.numIds() * play.session().blockSize() < turn.numPromptTokens();
        var segments = Arrays.copyOf(ids, ids.length + (hasTail ? 1 : 0));
        for (int i = 0; i < ids.length; i++) {
            segments[i] = play.segmentOf(ids[i]);
        }
        if (hasTail) {
            segments[ids.length] = Segments.ofUniqueText(textId(numTurns + 1));
        }
        prompt = prompt.branch(turn.numShared(), segments, play.session().blockSize(), turn.numPromptTokens());
        numTurns++;
        return prompt;
    }

    /** Returns the number of a turn's text. */
    long textId(int turn) {
        return play.textId(index, turn);
    }
}
