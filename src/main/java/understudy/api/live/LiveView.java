package understudy.api.live;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import understudy.api.http.Json;
import understudy.cluster.ClusterEvent;
import understudy.faults.ReplicaState;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.Outcome;
import understudy.report.RequestRecord;

/**
 * What the live page shows: gathers what the cluster says of itself, in bounded space. Times are virtual.
 *
 * <p>Thread-safe. It only listens, so the emulation is the same whether somebody looks or not.
 */
public final class LiveView {
    private static final int MAX_DECISIONS = 20;
    private static final int MAX_CANDIDATES = 6;
    private static final int MAX_ENDED = 24;

    /** So many points go along with each snapshot, for readers who have missed some. */
    private static final int NUM_LATEST_POINTS = 8;

    private final List<LiveReplica> replicas = new ArrayList<>();
    private final ArrayDeque<ClusterEvent.Routed> decisions = new ArrayDeque<>();
    private final ArrayDeque<RequestRecord> ended = new ArrayDeque<>();
    private final LatencyHistory latency = new LatencyHistory();
    private final TokenRates rates = new TokenRates();
    private final IntUnaryOperator numBlocks;
    private long numDecisions;
    private long numFinished;
    private long numFailed;

    /**
     * Creates a view of a cluster of which nothing is known.
     *
     * @param numReplicas how many there are at first
     * @param numBlocks gives the usable KV blocks of each replica, by index
     */
    public LiveView(int numReplicas, IntUnaryOperator numBlocks) {
        this.numBlocks = numBlocks;
        for (int i = 0; i < numReplicas; i++) {
            replicas.add(new LiveReplica(numBlocks.applyAsInt(i)));
        }
    }

    /** Takes an event of the cluster. */
    public synchronized void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            onStep(step);
        } else if (event instanceof ClusterEvent.LoadChanged changed) {
            replica(changed.replicaIndex()).onLoad(changed.load());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            replica(changed.replicaIndex()).onKvCache(changed.kvCache());
        } else if (event instanceof ClusterEvent.RequestEnded request) {
            onEnded(request.ended());
        } else if (event instanceof ClusterEvent.Routed routed) {
            onRouted(routed);
        }
    }

    private void onStep(ClusterEvent.StepEnded step) {
        var replica = replica(step.replicaIndex());
        replica.onStep(step.numTokens());
        replica.onLoad(step.load());
        replica.onKvCache(step.kvCache());
        var first = step.firstTokens();
        first.ttftNanos().forEach(latency::addTtft);
        rates.add(first.numPromptTokens(), step.numSampled());
        for (int i = 0; i < step.gapNanos().size(); i++) {
            latency.addGap(step.gapNanos().getLong(i), step.gapCounts().getInt(i));
        }
        step.ended().forEach(this::onEnded);
    }

    private void onEnded(RequestRecord request) {
        if (ended.size() == MAX_ENDED) {
            ended.remove();
        }
        ended.add(request);
        if (request.outcome() == Outcome.COMPLETED) {
            numFinished++;
            latency.addEndToEnd(request.lastTokenNanos() - request.arrivalNanos());
        } else {
            numFailed++;
        }
    }

    private void onRouted(ClusterEvent.Routed decision) {
        if (decisions.size() == MAX_DECISIONS) {
            decisions.removeLast();
        }
        decisions.addFirst(decision);
        numDecisions++;
    }

    synchronized void onStates(List<ReplicaState> states) {
        for (int i = 0; i < states.size(); i++) {
            replica(i).onState(states.get(i));
        }
    }

    /** Ends an interval of the figures that are per interval. */
    synchronized void sample(long nowNanos) {
        latency.sample(nowNanos);
        rates.sample(nowNanos);
    }

    private LiveReplica replica(int index) {
        while (replicas.size() <= index) {
            replicas.add(new LiveReplica(numBlocks.applyAsInt(replicas.size())));
        }
        return replicas.get(index);
    }

    /** Returns the latency percentiles of the last minutes. */
    synchronized ArrayNode history() {
        return latency.all();
    }

    /**
     * Returns all there is to show, but for the clock.
     *
     * @param inFlight requests that have not ended
     */
    synchronized ObjectNode snapshot(List<LiveRequest> inFlight) {
        var root = Json.object();
        root.set("totals", totals());
        var cards = root.putArray("replicas");
        replicas.forEach(replica -> cards.add(replica.toJson()));
        var chosen = root.putArray("decisions");
        long number = numDecisions;
        for (var decision : decisions) {
            chosen.add(toJson(number--, decision));
        }
        root.set("requests", requests(inFlight));
        root.set("latency", latency.latest(NUM_LATEST_POINTS));
        return root;
    }

    private ObjectNode totals() {
        var prefixCache =
                replicas.stream().map(LiveReplica::prefixCache).reduce(PrefixCacheStats.NONE, PrefixCacheStats::plus);
        long numUsable =
                replicas.stream().mapToLong(r -> r.blocks().numBlocks()).sum();
        long numUsed = replicas.stream().mapToLong(r -> r.blocks().numUsed()).sum();
        return Json.object()
                .put(
                        "running",
                        replicas.stream().mapToInt(LiveReplica::numRunning).sum())
                .put(
                        "waiting",
                        replicas.stream().mapToInt(LiveReplica::numWaiting).sum())
                .put("finished", numFinished)
                .put("failed", numFailed)
                .put("promptTokensPerSecond", rates.promptTokensPerSecond())
                .put("outputTokensPerSecond", rates.outputTokensPerSecond())
                .put("prefixQueries", prefixCache.queries())
                .put("prefixHits", prefixCache.hits())
                .put("kvUsage", numUsable == 0 ? 0 : (double) numUsed / numUsable)
                .put(
                        "preemptions",
                        replicas.stream().mapToLong(LiveReplica::numPreemptions).sum());
    }

    private static ObjectNode toJson(long number, ClusterEvent.Routed decision) {
        var scores = decision.scores();
        var node = Json.object()
                .put("number", number)
                .put("virtualSeconds", decision.atNanos() / 1e9)
                .put("request", decision.requestId())
                .put("replica", decision.replicaIndex())
                .put("rule", scores.rule())
                .put("replicas", decision.ready().size());
        var candidates = node.putArray("candidates");
        IntStream.concat(
                        IntStream.of(decision.replicaIndex()),
                        scores.ranked(decision.ready()).intStream().filter(i -> i != decision.replicaIndex()))
                .limit(MAX_CANDIDATES)
                .forEach(i -> {
                    var parts = candidates.addObject().put("replica", i).putObject("parts");
                    scores.parts()
                            .forEach(part ->
                                    parts.put(part.name(), part.byReplica().getLong(i)));
                });
        return node;
    }

    /** Returns requests by id: those in flight, and those that have ended last. */
    private ArrayNode requests(List<LiveRequest> inFlight) {
        var all = new ArrayList<>(inFlight);
        int numEnded = Math.max(0, MAX_ENDED - inFlight.size());
        ended.stream()
                .skip(Math.max(0, ended.size() - numEnded))
                .map(LiveRequest::of)
                .forEach(all::add);
        all.sort(Comparator.comparingLong(LiveRequest::id));
        var array = Json.array();
        all.forEach(request -> array.add(request.toJson()));
        return array;
    }
}
