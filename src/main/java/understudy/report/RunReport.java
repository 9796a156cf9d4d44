package understudy.report;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;
import understudy.figure.OwnFigures;
import understudy.kvcache.PrefixCacheStats;
import understudy.report.latency.LatencyStats;
import understudy.report.transfers.TransferReport;

/**
 * The figures of a run. Everything in it depends on scenario and seed alone; what depends on the machine is in {@link
 * HostStats}.
 *
 * @param isPartial whether the run was interrupted
 * @param numCompleted requests that were answered; lengths, TTFT, TPOT, E2EL and queue times count these alone, while
 *     gaps, peak, cache and replica figures also count what failed or unfinished requests have had
 * @param numFailed requests whose answer broke off
 * @param numAborted requests that their sender gave up
 * @param numRejected requests that were turned away, for any reason
 * @param loadShed those of them that were turned away because of the load, by reason; none if there were none
 * @param numAbandoned requests that were not sent, since a turn before them got no answer
 * @param numUnfinished requests that had not ended
 * @param durationSeconds virtual time from the start to the end of the run
 * @param totalInputTokens prompt tokens
 * @param totalOutputTokens answer tokens
 * @param maxOutputTokensPerSecond most answer tokens of all requests in one second
 * @param maxConcurrentRequests most requests between arrival and last token at a time
 * @param ttft from arrival to first token
 * @param tpot of each request with two or more tokens, the mean time per token after the first
 * @param itl every gap between consecutive tokens of a request
 * @param e2el from arrival to last token
 * @param queueTime from entering a replica's waiting queue to the first admission
 * @param prefixCache lookups in tokens, summed over replicas
 * @param numPreemptions how often a request lost its blocks
 * @param replicas one entry per replica
 * @param prefixCaching effect of prefix caching on the answered requests
 * @param goodput how many requests have kept to their service levels
 * @param timeline figures per interval; off unless {@code report.timeline} is set
 * @param stepDigest a hash over every step; equal for equal decisions at equal times
 * @param fleet hours, cost and number of all replicas together; empty unless it is asked for
 * @param transfers sources of the KV of prompts; empty unless a replica has a connector
 */
@RecordBuilder
public record RunReport(
        boolean isPartial,
        long numCompleted,
        long numFailed,
        long numAborted,
        long numRejected,
        SortedMap<Outcome, Integer> loadShed,
        long numAbandoned,
        long numUnfinished,
        double durationSeconds,
        long totalInputTokens,
        long totalOutputTokens,
        long maxOutputTokensPerSecond,
        long maxConcurrentRequests,
        LatencyStats ttft,
        LatencyStats tpot,
        LatencyStats itl,
        LatencyStats e2el,
        LatencyStats queueTime,
        PrefixCacheStats prefixCache,
        long numPreemptions,
        List<ReplicaStats> replicas,
        PrefixCachingStats prefixCaching,
        Goodput goodput,
        Timeline timeline,
        long stepDigest,
        Optional<FleetStats> fleet,
        Optional<TransferReport> transfers) {

    /** Returns the report of a run that goes on. */
    public static RunReport soFar(
            RunLog log, List<RunRecord.ReplicaRecord> replicas, long atNanos, Optional<FleetStats> fleet) {
        return of(RunRecordBuilder.builder()
                .log(log)
                .replicas(replicas)
                .numPlanned(0)
                .numSent(0)
                .numAbandoned(0)
                .numHeld(0)
                .endNanos(atNanos)
                .isPartial(true)
                .replicaHistory(List.of())
                .fleet(fleet)
                .build());
    }

    /** Computes the figures of a run without service levels and timeline. */
    public static RunReport of(RunRecord run) {
        return of(run, ServiceLevels.NONE, 0);
    }

    /** Computes the figures of a run; intervals of 0 seconds are no timeline. */
    public static RunReport of(RunRecord run, ServiceLevels levels, int intervalSeconds) {
        var completed = new CompletedRequests(run.requests());
        var replicas =
                run.replicas().stream().map(RunRecord.ReplicaRecord::stats).toList();
        var ttft = completed.ttft();
        return RunReportBuilder.builder()
                .isPartial(run.isPartial())
                .numCompleted(run.requests().count(Outcome.COMPLETED))
                .numFailed(run.requests().count(Outcome.FAILED))
                .numAborted(run.requests().count(Outcome.ABORTED))
                .numRejected(run.requests().countRejections())
                .loadShed(loadShed(run.requests()))
                .numAbandoned(run.numAbandoned())
                .numUnfinished(run.numUnfinished())
                .durationSeconds(run.endNanos() / 1e9)
                .totalInputTokens(completed.numPromptTokens())
                .totalOutputTokens(completed.numOutputTokens())
                .maxOutputTokensPerSecond(run.log().outputRate().peak())
                .maxConcurrentRequests(completed.maxConcurrent())
                .ttft(ttft)
                .tpot(completed.tpot())
                .itl(run.log().gaps().stats())
                .e2el(completed.e2el())
                .queueTime(completed.queueTime())
                .prefixCache(replicas.stream()
                        .map(ReplicaStats::prefixCache)
                        .reduce(PrefixCacheStats.NONE, PrefixCacheStats::plus))
                .numPreemptions(replicas.stream()
                        .mapToLong(ReplicaStats::numPreemptions)
                        .sum())
                .replicas(replicas)
                .prefixCaching(PrefixCachingStats.of(run.requests()))
                .goodput(Goodput.of(run.requests(), levels))
                .timeline(Timeline.of(run, levels, intervalSeconds))
                .stepDigest(run.log().stepDigest())
                .fleet(run.fleet())
                .transfers(transfers(replicas, ttft))
                .build();
    }

    private static Optional<TransferReport> transfers(List<ReplicaStats> replicas, LatencyStats ttft) {
        if (replicas.stream().allMatch(replica -> replica.transfers().traffic() == null)) {
            return Optional.empty();
        }
        var byGroup = replicas.stream()
                .collect(Collectors.groupingBy(
                        ReplicaStats::group,
                        LinkedHashMap::new,
                        Collectors.mapping(ReplicaStats::transfers, Collectors.toList())));
        return Optional.of(TransferReport.of(byGroup, ttft));
    }

    private static SortedMap<Outcome, Integer> loadShed(RequestLog requests) {
        var counts = new TreeMap<Outcome, Integer>();
        for (var outcome : Outcome.values()) {
            if (outcome.isLoadShed() && requests.count(outcome) > 0) {
                counts.put(outcome, requests.count(outcome));
            }
        }
        return Collections.unmodifiableSortedMap(counts);
    }

    public double requestThroughput() {
        return perSecond(numCompleted);
    }

    public double requestGoodput() {
        return perSecond(goodput.numGood());
    }

    public double outputThroughput() {
        return perSecond(totalOutputTokens);
    }

    public double totalTokenThroughput() {
        return perSecond(totalInputTokens + totalOutputTokens);
    }

    /** Returns the counts of drafts, summed over replicas. */
    public DraftCounts drafts() {
        return replicas.stream().map(ReplicaStats::drafts).reduce(DraftCounts.NONE, DraftCounts::plus);
    }

    /** Returns the use of LoRA adapters, summed over replicas. */
    public LoraCounts loras() {
        return replicas.stream().map(ReplicaStats::loras).reduce(LoraCounts.NONE, LoraCounts::plus);
    }

    /** Returns the figures of each family of engines that has some, summed over its replicas. */
    public List<OwnFigures> own() {
        return List.copyOf(replicas.stream()
                .map(ReplicaStats::own)
                .filter(own -> !own.family().isEmpty())
                .collect(Collectors.toMap(OwnFigures::family, own -> own, OwnFigures::plus, LinkedHashMap::new))
                .values());
    }

    /** Returns the share of looked-up tokens that were found, 0 to 1, without those after preemptions. */
    public double prefixCacheHitRate() {
        return prefixCache.hitRate();
    }

    private double perSecond(long count) {
        return durationSeconds == 0 ? 0 : count / durationSeconds;
    }
}
