package understudy.engine.sglang;

import java.util.List;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.kvcache.radix.TreeSize;

/** Counts of SGLang's scheduler that other engines do not have, as figures of a report. */
final class SglangCounts {
    private long numSteps;
    private long numChunkSteps;
    private long numPrefillTokens;
    private long numChunkTokens;
    private long numRetracted;
    private long numPreempted;
    private long numLost;
    private double sumOfRatios;

    /** Counts the requests that lost their places in a turn. */
    void onGivenWay(SglangPlan turn) {
        numRetracted += turn.retracted().size();
        numPreempted += turn.preempted().size();
    }

    /** Counts a request that was preempted and forgotten. */
    void onLost() {
        numLost++;
    }

    /** Counts the batch of a turn; a chunk is a piece of a prompt that takes several steps, also the last one. */
    void onBatch(SglangPlan turn, double newTokenRatio) {
        numSteps++;
        numChunkSteps += turn.numChunkTokens > 0 ? 1 : 0;
        numPrefillTokens += turn.numPrefillTokens;
        numChunkTokens += turn.numChunkTokens;
        sumOfRatios += newTokenRatio;
    }

    OwnFigures figures() {
        return new OwnFigures(
                SglangFamily.NAME,
                List.of(
                        OwnFigure.count("retractions", "Retractions", numRetracted),
                        OwnFigure.count("priority_preemptions", "Preemptions by priority", numPreempted),
                        OwnFigure.count("lost_by_preemption", "Requests lost by a refused preemption", numLost),
                        OwnFigure.mean("mean_new_token_ratio", "Mean new-token ratio", sumOfRatios, numSteps),
                        OwnFigure.share("chunk_steps", "Steps with a chunk", numChunkSteps, numSteps),
                        OwnFigure.share("chunk_tokens", "Prefill tokens in chunks", numChunkTokens, numPrefillTokens)));
    }

    /** Returns what changes over a run, as it is now. */
    static OwnFigures course(double newTokenRatio, TreeSize tree) {
        return new OwnFigures(
                SglangFamily.NAME,
                List.of(
                        OwnFigure.mean("new_token_ratio", "New-token ratio", newTokenRatio, 1),
                        OwnFigure.largest("tree_nodes", "Tree nodes", tree.numNodes()),
                        OwnFigure.largest("tree_tokens", "Tree tokens", tree.numTokens())));
    }
}
