package understudy.workload.agentic;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.workload.agentic.AgenticSession.Branch;
import understudy.workload.agentic.AgenticSession.Turn;

/** Builder of an agent's turns, and of those of its sub-agents. */
final class BranchBuilder {
    private final int numTurnsBefore;
    private final List<Turn> turns = new ArrayList<>();
    private final List<BranchBuilder> children = new ArrayList<>();
    private LongArrayList previousIds = new LongArrayList();
    private LongArrayList ids = new LongArrayList();
    private int previousNumFullBlocks;
    private double markerSeconds;
    private int numSystemTokens;

    /** Begins the turns of an agent, or those of a sub-agent at this point of its parent's. */
    BranchBuilder(@Nullable BranchBuilder parent) {
        numTurnsBefore = parent == null ? 0 : parent.turns.size();
    }

    /** Returns where the block ids of the next turn go. */
    LongArrayList ids() {
        return ids;
    }

    int numTurns() {
        return turns.size();
    }

    /**
     * Adds a turn, whose block ids are there.
     *
     * @param numFullBlocks how many of them are certain to stand for a whole block
     */
    void add(
            double startSeconds,
            double apiSeconds,
            double thinkSeconds,
            int numPromptTokens,
            int numOutputTokens,
            int numFullBlocks) {
        int common = Math.min(numFullBlocks, previousNumFullBlocks);
        int mismatch = Arrays.mismatch(ids.elements(), 0, common, previousIds.elements(), 0, common);
        int numShared = mismatch < 0 ? common : mismatch;
        var more = new LongImmutableList(ids.elements(), numShared, ids.size() - numShared);
        turns.add(new Turn(
                startSeconds,
                startSeconds + apiSeconds,
                thinkSeconds,
                numPromptTokens,
                numOutputTokens,
                numShared,
                more));
        previousNumFullBlocks = numFullBlocks;
        var free = previousIds;
        previousIds = ids;
        ids = free;
        ids.clear();
    }

    /** Adds a sub-agent, unless it sent nothing. */
    void add(BranchBuilder child, double atSeconds) {
        if (!child.turns.isEmpty()) {
            child.markerSeconds = atSeconds;
            children.add(child);
        }
    }

    void setNumSystemTokens(int count) {
        numSystemTokens = count;
    }

    /** Returns the agent and its sub-agents, all with times from the start of the session. */
    List<Branch> build() {
        var branches = new ArrayList<Branch>();
        build(-1, 0, branches);
        return branches;
    }

    private void build(int parentIndex, double offsetSeconds, List<Branch> branches) {
        int index = branches.size();
        var shifted = shifted(offsetSeconds);
        branches.add(
                parentIndex < 0
                        ? new Branch(parentIndex, 0, Integer.MAX_VALUE, 0, numSystemTokens, shifted)
                        : subAgent(parentIndex, branches.get(parentIndex).turns(), shifted));
        for (var child : children) {
            // Times count from the marker or, in some releases, from the start: then none is before the marker.
            boolean isRelative = child.turns.get(0).startSeconds() < child.markerSeconds;
            child.build(index, isRelative ? offsetSeconds + child.markerSeconds : offsetSeconds, branches);
        }
    }

    private List<Turn> shifted(double offsetSeconds) {
        var shifted = new ArrayList<Turn>(turns.size());
        double previousEnd = Double.POSITIVE_INFINITY;
        for (var turn : turns) {
            shifted.add(turn.shifted(offsetSeconds, previousEnd));
            previousEnd = turn.endSeconds() + offsetSeconds;
        }
        return shifted;
    }

    private Branch subAgent(int parentIndex, List<Turn> parentTurns, List<Turn> shifted) {
        double start = shifted.get(0).startSeconds();
        double end = shifted.stream().mapToDouble(Turn::endSeconds).max().orElseThrow();
        double before =
                numTurnsBefore == 0 ? 0 : parentTurns.get(numTurnsBefore - 1).endSeconds();
        int joining = numTurnsBefore;
        while (joining < parentTurns.size() && parentTurns.get(joining).startSeconds() < end) {
            joining++;
        }
        return new Branch(
                parentIndex,
                numTurnsBefore,
                joining < parentTurns.size() ? joining : Integer.MAX_VALUE,
                Math.max(0, start - before),
                numSystemTokens,
                shifted);
    }
}
