package understudy.report;

import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;
import understudy.report.latency.LatencyStats;

/** Prints a report as people know it from {@code vllm bench serve}, and below that what a cluster adds to it. */
public final class ConsoleReport {
    private static final int BAR_WIDTH = 20;
    private static final int MAX_HISTORY = 50;
    private static final double NANOS_PER_MILLI = 1e6;

    private final RunReport report;
    private final ReportSink text;

    private ConsoleReport(RunReport report, ReportSink text) {
        this.report = report;
        this.text = text;
    }

    /** Returns the report as text, with a line break at its end. */
    public static String write(RunReport report, HostStats host) {
        var text = new ReportText();
        writeFigures(report, text);
        writeHost(report, host, text);
        return text.toString();
    }

    /** Writes all that depends on scenario and seed alone. */
    public static void writeFigures(RunReport report, ReportSink text) {
        new ConsoleReport(report, text).write();
    }

    private void write() {
        writeTotals();
        writeLatency("Time to First Token", "TTFT", report.ttft());
        writeLatency("Time per Output Token (excl. 1st token)", "TPOT", report.tpot());
        writeLatency("Inter-token Latency", "ITL", report.itl());
        writeLatency("End-to-end Latency", "E2EL", report.e2el());
        writeQueueAndCache();
        if (report.drafts().numDrafts() > 0) {
            writeDrafts(report.drafts());
        }
        if (report.loras().numSteps() > 0) {
            writeLoras(report.loras());
        }
        if (report.prefixCaching().isMeaningful()) {
            writePrefixCaching(report.prefixCaching());
        }
        report.fleet().ifPresent(this::writeFleet);
        report.transfers().ifPresent(transfers -> TransferText.writeTotals(transfers, text));
        text.end();
        report.fleet().ifPresent(this::writeHistory);
        writeReplicas();
        report.transfers().ifPresent(transfers -> TransferText.writeTables(transfers, text));
        if (report.goodput().isMeasured()) {
            writeServiceLevels();
        }
    }

    private void writeTotals() {
        text.heading(report.isPartial() ? " Serving Benchmark Result (partial) " : " Serving Benchmark Result ", '=');
        text.line("Successful requests:", report.numCompleted());
        text.line("Failed requests:", report.numFailed());
        if (report.numAborted() > 0) {
            text.line("Aborted requests:", report.numAborted());
        }
        if (report.numRejected() > 0) {
            text.line("Rejected requests:", report.numRejected());
            report.loadShed().forEach((outcome, count) -> text.line("  " + word(outcome) + ":", count));
        }
        if (report.numAbandoned() > 0) {
            text.line("Abandoned follow-up turns:", report.numAbandoned());
        }
        if (report.numUnfinished() > 0) {
            text.line("Unfinished requests:", report.numUnfinished());
        }
        text.line("Benchmark duration (s):", report.durationSeconds());
        text.line("Total input tokens:", report.totalInputTokens());
        text.line("Total generated tokens:", report.totalOutputTokens());
        text.line("Request throughput (req/s):", report.requestThroughput());
        if (report.goodput().isMeasured()) {
            text.line("Request goodput (req/s):", report.requestGoodput());
        }
        text.line("Output token throughput (tok/s):", report.outputThroughput());
        text.line("Peak output token throughput (tok/s):", report.maxOutputTokensPerSecond());
        text.line("Peak concurrent requests:", report.maxConcurrentRequests());
        text.line("Total token throughput (tok/s):", report.totalTokenThroughput());
    }

    private void writeLatency(String title, String name, LatencyStats stats) {
        text.heading(title, '-');
        text.line("Mean " + name + " (ms):", stats.meanNanos() / NANOS_PER_MILLI);
        text.line("Median " + name + " (ms):", stats.p50Nanos() / NANOS_PER_MILLI);
        text.line("P90 " + name + " (ms):", stats.p90Nanos() / NANOS_PER_MILLI);
        text.line("P95 " + name + " (ms):", stats.p95Nanos() / NANOS_PER_MILLI);
        text.line("P99 " + name + " (ms):", stats.p99Nanos() / NANOS_PER_MILLI);
    }

    private void writeQueueAndCache() {
        text.heading("Queue and Prefix Cache", '-');
        text.line("Mean queue time (ms):", report.queueTime().meanNanos() / NANOS_PER_MILLI);
        text.line("P99 queue time (ms):", report.queueTime().p99Nanos() / NANOS_PER_MILLI);
        text.line("Prefix cache queries (tokens):", report.prefixCache().queries());
        text.line("Prefix cache hits (tokens):", report.prefixCache().hits());
        text.line("Prefix cache hit rate (%):", report.prefixCacheHitRate() * 100);
        text.line("Preemptions:", report.numPreemptions());
    }

    private void writeLoras(LoraCounts loras) {
        text.heading("LoRA", '-');
        text.line("Mean adapters per step:", loras.meanAdaptersPerStep());
        text.line("Adapters read from disk:", loras.numLoads());
        text.line("Adapters copied to a GPU:", loras.numActivations());
    }

    private void writeDrafts(DraftCounts drafts) {
        text.heading("Speculative Decoding", '-');
        text.line("Mean acceptance length:", drafts.meanAcceptanceLength());
        text.line("Drafts:", drafts.numDrafts());
        text.line("Draft tokens:", drafts.numDraftTokens());
        text.line("Accepted tokens:", drafts.numAcceptedTokens());
        text.line("Acceptance rate (%):", drafts.acceptanceRate() * 100);
        for (int i = 0; i < drafts.numAcceptedTokensPerPos().size(); i++) {
            text.line("Acceptance rate at position " + i + " (%):", drafts.acceptanceRateAt(i) * 100);
        }
    }

    private void writePrefixCaching(PrefixCachingStats stats) {
        text.heading("Prefix Caching by Request", '-');
        text.line("Hit rate (%):", stats.hitRate() * 100);
        text.line("Conversational hit rate (%):", stats.conversationalHitRate() * 100);
        text.line("Cross-request hit rate (%):", stats.crossRequestHitRate() * 100);
        text.line("Conversational hits:", stats.conversationalHits());
        text.line("Cross-request hits:", stats.crossRequestHits());
        text.line("Full hits, no prefill needed:", stats.fullHits());
        text.line("Full misses:", stats.fullMisses());
        text.line("Misses by an unexpected prompt:", stats.unexpectedPrompts());
        text.line("Mean cached tokens of hits:", stats.meanCachedTokensOfHits());
        text.line("Mean prefilled tokens:", stats.meanPrefilledTokens());
        text.line("Prefilled of prompt tokens (%):", stats.prefilledShare() * 100);
        text.line("Mean TTFT of hits (ms):", stats.ttftOfHits().meanNanos() / NANOS_PER_MILLI);
        text.line("Mean TTFT of misses (ms):", stats.ttftOfMisses().meanNanos() / NANOS_PER_MILLI);
    }

    private void writeFleet(FleetStats fleet) {
        text.heading("Replicas and Cost", '-');
        text.line("Most replicas at a time:", fleet.maxReplicas());
        text.line("Replica hours:", fleet.replicaHours());
        text.line("GPU hours:", fleet.gpuHours());
        if (fleet.gpuHourPrice() > 0) {
            text.line("Cost:", fleet.cost());
            text.line("Cost per million generated tokens:", fleet.costPerMillionTokens(report.totalOutputTokens()));
        }
    }

    private void writeHistory(FleetStats fleet) {
        if (fleet.history().size() > MAX_HISTORY) {
            text.append(fleet.history().size() + " changes of the number of replicas; --json has them all\n");
        } else if (fleet.history().size() > 1) {
            List<ColumnData<FleetStats.Point>> columns = List.of(
                    Tables.decimals("From s", "%.0f", point -> point.atNanos() / 1e9),
                    Tables.counts("Ready", FleetStats.Point::numReady),
                    Tables.counts("Starting", FleetStats.Point::numStarting),
                    new Column()
                            .header("Replicas")
                            .dataAlign(HorizontalAlign.LEFT)
                            .with(point -> "#".repeat(point.numReady()) + "+".repeat(point.numStarting())));
            text.table(fleet.history(), columns);
        }
    }

    private void writeReplicas() {
        long mostRequests = report.replicas().stream()
                .mapToLong(ReplicaStats::numRequests)
                .max()
                .orElse(0);
        var columns = new ArrayList<ColumnData<ReplicaStats>>();
        columns.add(Tables.counts("Replica", ReplicaStats::replicaIndex));
        if (report.replicas().stream().anyMatch(replica -> !replica.group().isEmpty())) {
            columns.add(Tables.words("Group", ReplicaStats::group));
        }
        columns.addAll(List.of(
                Tables.counts("Requests", ReplicaStats::numRequests),
                new Column()
                        .header("Share")
                        .dataAlign(HorizontalAlign.LEFT)
                        .with(r -> bar(r.numRequests(), mostRequests)),
                Tables.counts("Steps", ReplicaStats::numSteps),
                Tables.numbers("Busy %", r -> ReportText.percent(r.busyNanos() / 1e9, report.durationSeconds())),
                Tables.decimals("Peak KV %", "%.2f", r -> r.peakKvUsage() * 100),
                Tables.numbers("Hit rate %", ConsoleReport::hitRate),
                Tables.counts("Preemptions", ReplicaStats::numPreemptions)));
        text.table(report.replicas(), columns);
    }

    private void writeServiceLevels() {
        List<ColumnData<Goodput.ServiceClass>> columns = List.of(
                Tables.numbers("Priority", Goodput.ServiceClass::name),
                Tables.counts("Requests", Goodput.ServiceClass::numRequests),
                Tables.counts("Good", Goodput.ServiceClass::numGood),
                Tables.decimals("Attainment", "%.4f", Goodput.ServiceClass::attainment),
                Tables.numbers("Wanted", each -> String.valueOf(each.wanted())),
                Tables.words("SLO", each -> each.isMet() ? "met" : "missed"));
        text.table(report.goodput().classes(), columns);
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static void writeHost(RunReport report, HostStats host, ReportSink text) {
        text.append(String.format(
                Locale.ROOT,
                "%.1f s of virtual time in %.2f s of wall time: %.0f x real time, %.0f events/s\n",
                report.durationSeconds(),
                host.wallSeconds(),
                report.durationSeconds() / host.wallSeconds(),
                host.numEvents() / host.wallSeconds()));
        if (host.latenessMaxNanos() > 0) {
            text.append(String.format(
                    Locale.ROOT,
                    "lateness against the wall clock: p50 %.2f ms, p99 %.2f ms, max %.2f ms\n",
                    host.latenessP50Nanos() / NANOS_PER_MILLI,
                    host.latenessP99Nanos() / NANOS_PER_MILLI,
                    host.latenessMaxNanos() / NANOS_PER_MILLI));
        }
    }

    private static String hitRate(ReplicaStats replica) {
        var cache = replica.prefixCache();
        return ReportText.percent(cache.hits(), cache.queries());
    }

    private static String bar(long count, long longest) {
        return "#".repeat((int) Math.round((double) count * BAR_WIDTH / Math.max(1, longest)));
    }
}
