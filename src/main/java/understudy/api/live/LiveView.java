package understudy.api.live;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.cluster.ClusterEvent;
import understudy.faults.ReplicaState;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.routing.RoutingScores;

/**
 * Content of the live page: gathers the events of the cluster, in bounded space. Times are virtual.
 *
 * <p>Thread-safe. It only listens, so the emulation is the same with and without readers.
 */
public final class LiveView {
    private static final int MAX_DECISIONS = 20;
    private static final int MAX_CANDIDATES = 6;
    private static final int MAX_ENDED = 24;

    /** Number of points sent with each snapshot, for readers that have missed some. */
    private static final int NUM_LATEST_POINTS = 8;

    private final List<LiveReplica> replicas = new ArrayList<>();
    private final ArrayDeque<ClusterEvent.Routed> decisions = new ArrayDeque<>();
    private final ArrayDeque<RequestRecord> ended = new ArrayDeque<>();
    private final LatencyHistory latency = new LatencyHistory();
    private final TokenRates rates = new TokenRates();
    private final IntFunction<LiveReplica.Kind> kinds;
    private long sampledNanos;
    private long numDecisions;
    private long numFinished;
    private long numFailed;

    /**
     * Creates a view of a cluster of which nothing is known.
     *
     * @param numReplicas how many there are at first
     * @param kinds features of each replica, by index
     */
    public LiveView(int numReplicas, IntFunction<LiveReplica.Kind> kinds) {
        this.kinds = kinds;
        for (int i = 0; i < numReplicas; i++) {
            replicas.add(new LiveReplica(kinds.apply(i)));
        }
    }

    /** Accepts an event of the cluster. */
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
        var first = step.firstTokens();
        first.ttftNanos().forEach(latency::addTtft);
        rates.add(first.promptTokens().total(), step.numAnswerTokens());
        for (int i = 0; i < step.gapNanos().size(); i++) {
            latency.addGap(step.gapNanos().getLong(i), step.gapCounts().getInt(i));
        }
        step.ended().forEach(this::onEnded);
    }

    private void onEnded(RequestRecord request) {
        if (request.outcome() == Outcome.PREFILL_LEG) {
            return;
        }
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
        if (nowNanos > sampledNanos) {
            double seconds = (nowNanos - sampledNanos) / 1e9;
            replicas.forEach(replica -> replica.sample(seconds));
            sampledNanos = nowNanos;
        }
    }

    private LiveReplica replica(int index) {
        while (replicas.size() <= index) {
            replicas.add(new LiveReplica(kinds.apply(replicas.size())));
        }
        return replicas.get(index);
    }

    synchronized List<LatencyHistory.Point> history() {
        return latency.all();
    }

    /** Content of the page, except for the clock. */
    record Content(
            Totals totals,
            List<LiveReplica.Card> replicas,
            List<Decision> decisions,
            List<LiveRequest> requests,
            List<LatencyHistory.Point> latency) {}

    /** Sums over all replicas, and rates of the last interval. */
    @RecordBuilder
    record Totals(
            int running,
            int waiting,
            long finished,
            long failed,
            double promptTokensPerSecond,
            double outputTokensPerSecond,
            long prefixQueries,
            long prefixHits,
            double kvUsage,
            long preemptions) {}

    /** A choice of the router, the chosen replica first among the candidates. */
    record Decision(
            long number,
            double virtualSeconds,
            long request,
            int replica,
            String rule,
            int replicas,
            List<Candidate> candidates) {}

    record Candidate(int replica, Map<String, Long> parts) {}

    /**
     * Returns all there is to show, but for the clock.
     *
     * @param inFlight requests that have not ended
     */
    synchronized Content snapshot(List<LiveRequest> inFlight) {
        var chosen = new ArrayList<Decision>();
        for (var decision : decisions) {
            chosen.add(decision(numDecisions - chosen.size(), decision));
        }
        return new Content(
                totals(),
                replicas.stream().map(LiveReplica::card).toList(),
                chosen,
                requests(inFlight),
                latency.latest(NUM_LATEST_POINTS));
    }

    private Totals totals() {
        var prefixCache =
                replicas.stream().map(LiveReplica::prefixCache).reduce(PrefixCacheStats.NONE, PrefixCacheStats::plus);
        long numUsable = sum(replica -> replica.blocks().numBlocks());
        long numUsed = sum(replica -> replica.blocks().numUsed());
        return LiveViewTotalsBuilder.builder()
                .running((int) sum(LiveReplica::numRunning))
                .waiting((int) sum(LiveReplica::numWaiting))
                .finished(numFinished)
                .failed(numFailed)
                .promptTokensPerSecond(rates.promptTokensPerSecond())
                .outputTokensPerSecond(rates.outputTokensPerSecond())
                .prefixQueries(prefixCache.queries())
                .prefixHits(prefixCache.hits())
                .kvUsage(numUsable == 0 ? 0 : (double) numUsed / numUsable)
                .preemptions(sum(LiveReplica::numPreemptions))
                .build();
    }

    private long sum(ToLongFunction<LiveReplica> figure) {
        return replicas.stream().mapToLong(figure).sum();
    }

    private static Decision decision(long number, ClusterEvent.Routed routed) {
        var scores = routed.scores();
        var others = scores.ranked(routed.ready()).intStream().filter(i -> i != routed.replicaIndex());
        var candidates = IntStream.concat(IntStream.of(routed.replicaIndex()), others)
                .limit(MAX_CANDIDATES)
                .mapToObj(i -> candidate(i, scores))
                .toList();
        return new Decision(
                number,
                routed.atNanos() / 1e9,
                routed.requestId(),
                routed.replicaIndex(),
                scores.rule(),
                routed.ready().size(),
                candidates);
    }

    private static Candidate candidate(int replica, RoutingScores scores) {
        var parts = new LinkedHashMap<String, Long>();
        scores.parts().forEach(part -> parts.put(part.name(), part.byReplica().getLong(replica)));
        return new Candidate(replica, parts);
    }

    /** Returns requests by id: those in flight, and those that have ended last. */
    private List<LiveRequest> requests(List<LiveRequest> inFlight) {
        int numEnded = Math.max(0, MAX_ENDED - inFlight.size());
        var latest = ended.stream().skip(Math.max(0, ended.size() - numEnded)).map(LiveRequest::of);
        return Stream.concat(inFlight.stream(), latest)
                .sorted(Comparator.comparingLong(LiveRequest::id))
                .toList();
    }
}
