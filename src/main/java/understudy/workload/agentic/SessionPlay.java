package understudy.workload.agentic;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.prompt.Segments;
import understudy.workload.agentic.LiveBranch.State;

/** Session that is being played in a lane. */
final class SessionPlay {
    private static final int MAX_TURNS_BITS = 20;

    private final AgenticSession session;
    private final long text;
    private final long firstConversation;
    private final int lane;
    private final @Nullable Long2LongOpenHashMap sharedBlocks;
    private final List<LiveBranch> branches;
    private int numWarmupsLeft;
    private long endNanos;

    /**
     * Starts to play a session.
     *
     * @param text number of its text; plays with the same number have the same text
     * @param firstConversation number of its agent's conversation; those of sub-agents follow
     * @param sharesSystemPrompt whether it has the same tools and system prompt as all others
     */
    SessionPlay(AgenticSession session, long text, long firstConversation, int lane, boolean sharesSystemPrompt) {
        this.session = session;
        this.text = text;
        this.firstConversation = firstConversation;
        this.lane = lane;
        sharedBlocks = sharesSystemPrompt ? new Long2LongOpenHashMap() : null;
        branches = IntStream.range(0, session.branches().size())
                .mapToObj(index -> new LiveBranch(this, index))
                .toList();
    }

    AgenticSession session() {
        return session;
    }

    long firstConversation() {
        return firstConversation;
    }

    int lane() {
        return lane;
    }

    List<LiveBranch> branches() {
        return branches;
    }

    LiveBranch agent() {
        return branches.get(0);
    }

    /** Skips all turns before a time; so many of the turns after it will be sent without pauses. */
    void skipTo(double startSeconds, int numWarmups) {
        branches.forEach(branch -> branch.skipTo(startSeconds));
        numWarmupsLeft = numWarmups;
    }

    /** Returns how long it takes from the answer before, or from the start, to the next turn of a branch. */
    double pauseSeconds(LiveBranch branch) {
        if (branch == agent() && numWarmupsLeft > 0) {
            numWarmupsLeft--;
            return 0;
        }
        return branch.pauseSeconds();
    }

    /** Returns when the last of those branches ended that have. */
    long endNanos() {
        return endNanos;
    }

    /** Notes that a branch has ended. */
    void endAt(long atNanos) {
        endNanos = Math.max(endNanos, atNanos);
    }

    /** Returns the branches that start when one has taken the turns that it has taken. */
    List<LiveBranch> subAgentsToStart(LiveBranch parent) {
        var starting = new ArrayList<LiveBranch>();
        for (var branch : branches) {
            if (isChild(branch, parent)
                    && branch.state() == State.NOT_STARTED
                    && branch.branch().numTurnsBefore() <= parent.numTurns()) {
                starting.add(branch);
            }
        }
        return starting;
    }

    /** Returns whether the next turn of a branch waits for sub-agents. */
    boolean mustWait(LiveBranch parent) {
        return branches.stream()
                .anyMatch(branch -> isChild(branch, parent)
                        && branch.branch().joiningTurn() == parent.numTurns()
                        && branch.state() != State.IS_DONE);
    }

    @Nullable LiveBranch parentOf(LiveBranch branch) {
        int parent = branch.branch().parent();
        return parent < 0 ? null : branches.get(parent);
    }

    private boolean isChild(LiveBranch branch, LiveBranch parent) {
        return parentOf(branch) == parent;
    }

    /** Gives up the rest of a branch and those that would have started from it; returns how many turns. */
    int drop(LiveBranch branch) {
        int numDropped = branch.numTurnsLeft();
        branch.drop();
        for (var child : subAgentsToStart(branch)) {
            numDropped += drop(child);
        }
        return numDropped;
    }

    int numTurnsLeft() {
        return branches.stream().mapToInt(LiveBranch::numTurnsLeft).sum();
    }

    boolean isOver() {
        return branches.stream().allMatch(branch -> branch.state() == State.IS_DONE);
    }

    /** Makes the tools and the system prompt with which a branch begins the same as those of all sessions. */
    void shareSystemPrompt(long[] ids, int numTokens, int branch) {
        if (sharedBlocks != null) {
            long group = branch == 0 ? 0 : 1L << Integer.SIZE;
            for (int i = 0; i < Math.min(ids.length, numTokens / session.blockSize()); i++) {
                sharedBlocks.putIfAbsent(ids[i], Segments.ofSharedPrefix(group + i));
            }
        }
    }

    long segmentOf(long blockId) {
        long own = session.isGlobal() ? Segments.ofTraceBlock(blockId) : Segments.ofSessionBlock(text, blockId);
        return sharedBlocks == null ? own : sharedBlocks.getOrDefault(blockId, own);
    }

    /** Returns a number for the text of a turn of a branch. */
    long textId(int branch, int turn) {
        return HashCommon.murmurHash3(text) >>> 8 ^ (long) branch << MAX_TURNS_BITS ^ turn;
    }
}
