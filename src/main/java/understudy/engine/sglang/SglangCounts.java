package understudy.engine.sglang;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.kvcache.radix.TreeSize;

/** Counts of SGLang's scheduler that other engines do not have, as figures of a report. */
final class SglangCounts {
    private static final String INFLIGHT = "prefill_inflight_queue";

    /** Queues of roles that SGLang's metrics show, by the names that recordings have. */
    private static final Map<String, String> QUEUES = Map.of(
            "bootstrap",
            "prefill_bootstrap_queue",
            "inflight",
            INFLIGHT,
            "prealloc",
            "decode_prealloc_queue",
            "transfer",
            "decode_transfer_queue",
            "retracted_queue",
            "decode_retracted_queue");

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

    /**
     * Returns the tokens of those that wait (as in {@code get_load}), and how full the queues of a role are. A queue of
     * {@code num_queue_reqs} is the one that all schedulers have.
     */
    static List<OwnFigure> queues(SglangScheduler scheduler) {
        var figures = new ArrayList<OwnFigure>();
        figures.add(
                OwnFigure.count("num_queue_reqs", "Waiting", scheduler.waiting().size()));
        long numTokens = numTokens(scheduler.waiting());
        for (var queue : scheduler.roleQueues().entrySet()) {
            String name = QUEUES.getOrDefault(queue.getKey(), "");
            if (!name.isEmpty()) {
                figures.add(
                        OwnFigure.count(name, queue.getKey(), queue.getValue().size()));
                numTokens += name.equals(INFLIGHT) ? 0 : numTokens(queue.getValue());
            }
        }
        figures.add(OwnFigure.tokens("waiting_tokens", "Tokens of those that wait", numTokens));
        return figures;
    }

    private static long numTokens(List<SglangRequest> queue) {
        long sum = 0;
        for (int i = 0; i < queue.size(); i++) {
            sum += queue.get(i).numPromptTokens() + queue.get(i).numOutputTokens();
        }
        return sum;
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
