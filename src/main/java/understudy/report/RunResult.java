package understudy.report;

import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import understudy.engine.lora.LoraCounts;
import understudy.engine.speculation.DraftCounts;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.report.latency.LatencyStats;

/**
 * Result of an emulated run, under the key names of {@code vllm bench serve --save-result}, with what a cluster adds.
 * Everything in it depends on scenario and seed alone; the object {@code host} alone depends on the machine.
 */
public final class RunResult {
    private static final int BAR_WIDTH = 20;
    private static final int MAX_HISTORY = 50;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Statistics of a latency that people see. */
    private static final List<String> SHOWN = List.of("mean", "median", "p90", "p95", "p99");

    private static final LatencyName QUEUE_TIME = new LatencyName("queue_time", "queue time", "");
    private static final LatencyName TTFT_OF_HITS = new LatencyName("ttft_hit", "TTFT of hits", "");
    private static final LatencyName TTFT_OF_MISSES = new LatencyName("ttft_miss", "TTFT of misses", "");

    private final RunReport report;
    private final Figures figures = new Figures();
    private final Result result = new Result(figures);

    private RunResult(RunReport report) {
        this.report = report;
    }

    /**
     * Returns the result of a run.
     *
     * @param requests source of the per-request lists, which are there if it keeps token times
     */
    public static Result of(RunReport report, RequestLog requests) {
        var writer = new RunResult(report);
        writer.addFigures();
        writer.addDetails(requests);
        writer.addBlocks();
        writer.addTables();
        return writer.result;
    }

    /** Returns the result of a run without lists of requests. */
    public static Result withoutDetails(RunReport report) {
        return of(report, new RequestLog(false));
    }

    /** Returns the same with the object {@code host}, the only part that differs between equal runs. */
    public static Result of(RunReport report, RequestLog requests, HostStats host) {
        var writer = new RunResult(report);
        writer.addFigures();
        writer.addDetails(requests);
        writer.figures.add("host", host(report, host));
        writer.addBlocks();
        writer.addTables();
        writer.addHostWords(host);
        return writer.result;
    }

    private void addFigures() {
        addTotals();
        addLatency(LatencyName.TTFT, report.ttft(), figures);
        addLatency(LatencyName.TPOT, report.tpot(), figures);
        addLatency(LatencyName.ITL, report.itl(), figures);
        addLatency(LatencyName.E2EL, report.e2el(), figures);
        addLatency(QUEUE_TIME, report.queueTime(), figures);
        addDrafts(report.drafts());
        addLoras(report.loras());
        addCaches();
        addPrefixCaching(report.prefixCaching(), figures.addObject("prefix_caching"));
        report.own().forEach(own -> addOwn(own, figures.addObject(own.family())));
        report.transfers().ifPresent(transfers -> TransferFigures.add(transfers, figures));
        report.fleet().ifPresent(fleet -> addFleet(fleet, figures.addObject("fleet")));
        if (report.timeline().isOn()) {
            figures.add("timeline", TimelineReport.figures(report.timeline()));
        }
    }

    private void addTotals() {
        figures.add("partial", report.isPartial());
        Total.DURATION.add(report.durationSeconds(), figures);
        Total.COMPLETED.add(report.numCompleted(), figures);
        Total.FAILED.add(report.numFailed(), figures);
        Total.ABORTED.addCount(report.numAborted(), figures);
        Total.REJECTED.addCount(report.numRejected(), figures);
        if (!report.loadShed().isEmpty()) {
            var reasons = figures.addObject(Total.LOAD_SHED.key());
            report.loadShed().forEach((outcome, count) -> {
                String word = outcome.name().toLowerCase(Locale.ROOT);
                reasons.add(word, "  " + word.replace('_', ' '), Unit.NONE, count);
            });
        }
        Total.ABANDONED.addCount(report.numAbandoned(), figures);
        Total.UNFINISHED.addCount(report.numUnfinished(), figures);
        Total.TOTAL_INPUT_TOKENS.add(report.totalInputTokens(), figures);
        Total.TOTAL_OUTPUT_TOKENS.add(report.totalOutputTokens(), figures);
        Total.REQUEST_THROUGHPUT.add(report.requestThroughput(), figures);
        Total.OUTPUT_THROUGHPUT.add(report.outputThroughput(), figures);
        Total.TOTAL_TOKEN_THROUGHPUT.add(report.totalTokenThroughput(), figures);
        Total.MAX_OUTPUT_TOKENS_PER_S.add(report.maxOutputTokensPerSecond(), figures);
        Total.MAX_CONCURRENT_REQUESTS.add(report.maxConcurrentRequests(), figures);
        if (report.goodput().isMeasured()) {
            Total.REQUEST_GOODPUT.add(report.requestGoodput(), figures);
            figures.add(
                    "service_levels",
                    report.goodput().classes().stream()
                            .map(RunResult::serviceClass)
                            .toList());
        }
    }

    /** A priority of null is the class of all that have none of their own. */
    private static Figures serviceClass(Goodput.ServiceClass each) {
        return new Figures()
                .add("priority", each.priority().isPresent() ? each.priority().getAsInt() : null)
                .add("requests", each.numRequests())
                .add("good", each.numGood())
                .add("attainment", each.attainment())
                .add("wanted", each.wanted())
                .add("met", each.isMet());
    }

    private static void addLatency(LatencyName name, LatencyStats stats, Figures to) {
        to.add("num_" + name.key(), stats.count());
        name.add("mean", stats.meanNanos(), to);
        name.add("median", stats.p50Nanos(), to);
        name.add("std", stats.stddevNanos(), to);
        name.add("p90", stats.p90Nanos(), to);
        name.add("p95", stats.p95Nanos(), to);
        name.add("p99", stats.p99Nanos(), to);
        name.add("max", stats.maxNanos(), to);
    }

    private void addDrafts(DraftCounts drafts) {
        if (drafts.numDrafts() == 0) {
            return;
        }
        var accepted = drafts.numAcceptedTokensPerPos();
        var of = figures.addObject("spec_decode")
                .add("mean_acceptance_length", "Mean acceptance length", Unit.NONE, drafts.meanAcceptanceLength())
                .add("acceptance_rate", "Acceptance rate", Unit.SHARE, drafts.acceptanceRate())
                .add("num_drafts", "Drafts", Unit.NONE, drafts.numDrafts())
                .add("num_draft_tokens", "Draft tokens", Unit.NONE, drafts.numDraftTokens())
                .add("num_accepted_tokens", "Accepted tokens", Unit.NONE, drafts.numAcceptedTokens())
                .add("num_accepted_tokens_per_pos", accepted);
        var byPosition = of.addObjectForPeople("acceptance_rate_at");
        for (int i = 0; i < accepted.size(); i++) {
            byPosition.add(
                    String.valueOf(i), "Acceptance rate at position " + i, Unit.SHARE, drafts.acceptanceRateAt(i));
        }
    }

    private void addLoras(LoraCounts loras) {
        if (loras.numSteps() > 0) {
            figures.addObject("lora")
                    .add("mean_adapters_per_step", "Mean adapters per step", Unit.NONE, loras.meanAdaptersPerStep())
                    .add("num_loads", "Adapters read from disk", Unit.NONE, loras.numLoads())
                    .add("num_activations", "Adapters copied to a GPU", Unit.NONE, loras.numActivations());
        }
    }

    private static void addOwn(OwnFigures own, Figures to) {
        for (var figure : own.figures()) {
            to.add(figure.key(), figure.title(), unit(figure.kind()), number(figure));
        }
    }

    private static Unit unit(OwnFigure.Kind kind) {
        return switch (kind) {
            case TOKENS -> Unit.TOKENS;
            case SHARE -> Unit.SHARE;
            case COUNT, MEAN, LARGEST -> Unit.NONE;
        };
    }

    private static Number number(OwnFigure figure) {
        if (figure.isWhole()) {
            return (long) figure.value();
        }
        return figure.value();
    }

    private void addCaches() {
        var cache = report.prefixCache();
        figures.add("prefix_cache_queries", "Prefix cache queries", Unit.TOKENS, cache.queries())
                .add("prefix_cache_hits", "Prefix cache hits", Unit.TOKENS, cache.hits())
                .addForPeople("prefix_cache_hit_rate", "Prefix cache hit rate", Unit.SHARE, report.prefixCacheHitRate())
                .add("preempted_prefix_cache_queries", cache.preemptedQueries())
                .add("preempted_prefix_cache_hits", cache.preemptedHits())
                .add("num_preemptions", "Preemptions", Unit.NONE, report.numPreemptions())
                .add("step_digest", String.format(Locale.ROOT, "%016x", report.stepDigest()))
                .add(
                        "per_replica",
                        report.replicas().stream().map(this::replica).toList());
    }

    private Figures replica(ReplicaStats replica) {
        var of = new Figures().add("replica", replica.replicaIndex());
        if (!replica.group().isEmpty()) {
            of.add("group", replica.group());
        }
        of.add("requests", replica.numRequests())
                .add("steps", replica.numSteps())
                .add("prefill_tokens", replica.numPrefillTokens())
                .add("decode_tokens", replica.numDecodeTokens())
                .add("busy_s", replica.busyNanos() / NANOS_PER_SECOND)
                .add("peak_kv_cache_usage", replica.peakKvUsage())
                .add("prefix_cache_queries", replica.prefixCache().queries())
                .add("prefix_cache_hits", replica.prefixCache().hits())
                .add("num_preemptions", replica.numPreemptions());
        if (report.transfers().isPresent()) {
            TransferFigures.addPromptTokens(replica.transfers().promptTokens(), of);
        }
        return of;
    }

    /** The session cache's summary, under its names. */
    private static void addPrefixCaching(PrefixCachingStats stats, Figures to) {
        to.add("eligible_requests", stats.eligible()).add("conversational_turns", stats.conversationalTurns());
        to.addObject("events")
                .add("CONVERSATIONAL_HIT", "Conversational hits", Unit.NONE, stats.conversationalHits())
                .add("CROSS_REQUEST_HIT", "Cross-request hits", Unit.NONE, stats.crossRequestHits())
                .add("MISS_FULL", "Full misses", Unit.NONE, stats.fullMisses())
                .add("FULL_HIT_NO_PREFILL_NEEDED", "Full hits, no prefill needed", Unit.NONE, stats.fullHits())
                .add(
                        "CONVERSATIONAL_MISS_UNEXPECTED_PROMPT",
                        "Misses by an unexpected prompt",
                        Unit.NONE,
                        stats.unexpectedPrompts());
        to.add("hit_rate", "Hit rate", Unit.SHARE, stats.hitRate())
                .add("conversational_hit_rate", "Conversational hit rate", Unit.SHARE, stats.conversationalHitRate())
                .add("cross_request_hit_rate", "Cross-request hit rate", Unit.SHARE, stats.crossRequestHitRate())
                .add(
                        "mean_cached_prefix_length_used",
                        "Mean cached tokens of hits",
                        Unit.NONE,
                        stats.meanCachedTokensOfHits())
                .add(
                        "mean_num_tokens_actually_prefilled",
                        "Mean prefilled tokens",
                        Unit.NONE,
                        stats.meanPrefilledTokens())
                .add("total_num_tokens_actually_prefilled", stats.prefilledTokens())
                .add("prefilled_to_prompt_ratio", "Prefilled of prompt tokens", Unit.SHARE, stats.prefilledShare());
        addLatency(TTFT_OF_HITS, stats.ttftOfHits(), to);
        addLatency(TTFT_OF_MISSES, stats.ttftOfMisses(), to);
    }

    /** Costs are of interest to people if there is a price. */
    private void addFleet(FleetStats fleet, Figures to) {
        boolean hasPrice = fleet.gpuHourPrice() > 0;
        to.add("replica_hours", "Replica hours", Unit.NONE, fleet.replicaHours())
                .add("gpu_hours", "GPU hours", Unit.NONE, fleet.gpuHours())
                .add("cost", hasPrice ? "Cost" : "", Unit.NONE, fleet.cost())
                .add(
                        "cost_per_million_output_tokens",
                        hasPrice ? "Cost per million generated tokens" : "",
                        Unit.NONE,
                        fleet.costPerMillionTokens(report.totalOutputTokens()))
                .add("max_replicas", "Most replicas at a time", Unit.NONE, fleet.maxReplicas())
                .add(
                        "history",
                        fleet.history().stream()
                                .map(point -> new Figures()
                                        .add("at_s", point.atNanos() / NANOS_PER_SECOND)
                                        .add("ready", point.numReady())
                                        .add("starting", point.numStarting()))
                                .toList());
    }

    /** Lists with one entry per completed request, in order of arrival, as {@code --save-detailed} does. */
    private void addDetails(RequestLog requests) {
        if (!requests.keepsTokenTimes()) {
            return;
        }
        var completed = requests.completed();
        completed.sort((a, b) -> Long.compare(requests.requestIds.get(a), requests.requestIds.get(b)));
        int size = completed.size();
        figures.addList("request_ids", size, i -> requests.requestIds.get(completed.getInt(i)))
                .addList("input_lens", size, i -> requests.promptTokens.get(completed.getInt(i)))
                .addList("output_lens", size, i -> requests.outputTokens.get(completed.getInt(i)))
                .addList("start_times", size, i -> requests.arrivalNanos.get(completed.getInt(i)) / NANOS_PER_SECOND)
                .addList("ttfts", size, i -> {
                    int index = completed.getInt(i);
                    return (requests.firstTokenNanos.get(index) - requests.arrivalNanos.get(index)) / NANOS_PER_SECOND;
                })
                .addList("itls", size, i -> {
                    var nanos = requests.tokenNanos(completed.getInt(i));
                    // Tokens that came at once are one piece of the answer, and no gaps.
                    var gaps = new ArrayList<Double>();
                    for (int j = 1; j < nanos.size(); j++) {
                        long gap = nanos.getLong(j) - nanos.getLong(j - 1);
                        if (gap > 0) {
                            gaps.add(gap / NANOS_PER_SECOND);
                        }
                    }
                    return gaps;
                });
    }

    /** Returns the use of this machine by a run. */
    public static Figures host(RunReport report, HostStats host) {
        double wall = host.wallSeconds();
        return new Figures()
                .add("wall_time_s", wall)
                .add("speed_up", wall == 0 ? 0.0 : report.durationSeconds() / wall)
                .add("events", host.numEvents())
                .add("events_per_s", wall == 0 ? 0.0 : host.numEvents() / wall)
                .add("heap_used_mb", host.usedHeapBytes() / 1e6)
                .add("lateness_p50_ms", host.latenessP50Nanos() / NANOS_PER_MILLI)
                .add("lateness_p99_ms", host.latenessP99Nanos() / NANOS_PER_MILLI)
                .add("lateness_max_ms", host.latenessMaxNanos() / NANOS_PER_MILLI);
    }

    private void addBlocks() {
        Total.addBlock(report.isPartial(), List.of(Total.values()), result);
        Stream.of(LatencyName.TTFT, LatencyName.TPOT, LatencyName.ITL, LatencyName.E2EL)
                .forEach(name -> name.addBlock(SHOWN, result));
        result.block(
                "Queue and Prefix Cache",
                '-',
                "mean_queue_time_ms",
                "p99_queue_time_ms",
                "prefix_cache_queries",
                "prefix_cache_hits",
                "prefix_cache_hit_rate",
                "num_preemptions");
        if (report.drafts().numDrafts() > 0) {
            result.block(
                    "Speculative Decoding",
                    '-',
                    "spec_decode.mean_acceptance_length",
                    "spec_decode.num_drafts",
                    "spec_decode.num_draft_tokens",
                    "spec_decode.num_accepted_tokens",
                    "spec_decode.acceptance_rate",
                    "spec_decode.acceptance_rate_at");
        }
        if (report.loras().numSteps() > 0) {
            result.block("LoRA", '-', "lora");
        }
        report.own().forEach(own -> result.block("Engine " + own.family(), '-', own.family()));
        if (report.prefixCaching().isMeaningful()) {
            addPrefixCachingBlock();
        }
        if (report.fleet().isPresent()) {
            result.block(
                    "Replicas and Cost",
                    '-',
                    "fleet.max_replicas",
                    "fleet.replica_hours",
                    "fleet.gpu_hours",
                    "fleet.cost",
                    "fleet.cost_per_million_output_tokens");
        }
        if (report.transfers().isPresent()) {
            TransferFigures.addBlock(result);
        }
        result.end();
    }

    private void addPrefixCachingBlock() {
        var keys = Stream.of(
                "hit_rate",
                "conversational_hit_rate",
                "cross_request_hit_rate",
                "events.CONVERSATIONAL_HIT",
                "events.CROSS_REQUEST_HIT",
                "events.FULL_HIT_NO_PREFILL_NEEDED",
                "events.MISS_FULL",
                "events.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT",
                "mean_cached_prefix_length_used",
                "mean_num_tokens_actually_prefilled",
                "prefilled_to_prompt_ratio",
                "mean_ttft_hit_ms",
                "mean_ttft_miss_ms");
        result.block(
                "Prefix Caching by Request",
                '-',
                keys.map(key -> "prefix_caching." + key).toList());
    }

    private void addTables() {
        report.fleet().ifPresent(this::addHistory);
        result.table(report.replicas(), replicaColumns());
        report.transfers().ifPresent(transfers -> TransferFigures.addTables(transfers, result));
        if (report.goodput().isMeasured()) {
            result.table(
                    report.goodput().classes(),
                    List.of(
                            Tables.numbers("Priority", Goodput.ServiceClass::name),
                            Tables.counts("Requests", Goodput.ServiceClass::numRequests),
                            Tables.counts("Good", Goodput.ServiceClass::numGood),
                            Tables.decimals("Attainment", "%.4f", Goodput.ServiceClass::attainment),
                            Tables.numbers("Wanted", each -> String.valueOf(each.wanted())),
                            Tables.words("SLO", each -> each.isMet() ? "met" : "missed")));
        }
    }

    private void addHistory(FleetStats fleet) {
        if (fleet.history().size() > MAX_HISTORY) {
            result.words(fleet.history().size() + " changes of the number of replicas; --json has them all\n");
        } else if (fleet.history().size() > 1) {
            result.table(
                    fleet.history(),
                    List.of(
                            Tables.decimals("From s", "%.0f", point -> point.atNanos() / NANOS_PER_SECOND),
                            Tables.counts("Ready", FleetStats.Point::numReady),
                            Tables.counts("Starting", FleetStats.Point::numStarting),
                            new Column()
                                    .header("Replicas")
                                    .dataAlign(HorizontalAlign.LEFT)
                                    .with(point -> "#".repeat(point.numReady()) + "+".repeat(point.numStarting()))));
        }
    }

    private List<ColumnData<ReplicaStats>> replicaColumns() {
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
                Tables.numbers("Hit rate %", RunResult::hitRate),
                Tables.counts("Preemptions", ReplicaStats::numPreemptions)));
        return columns;
    }

    private static String hitRate(ReplicaStats replica) {
        var cache = replica.prefixCache();
        return ReportText.percent(cache.hits(), cache.queries());
    }

    private static String bar(long count, long longest) {
        return "#".repeat((int) Math.round((double) count * BAR_WIDTH / Math.max(1, longest)));
    }

    private void addHostWords(HostStats host) {
        result.words(String.format(
                Locale.ROOT,
                "%.1f s of virtual time in %.2f s of wall time: %.0f x real time, %.0f events/s\n",
                report.durationSeconds(),
                host.wallSeconds(),
                report.durationSeconds() / host.wallSeconds(),
                host.numEvents() / host.wallSeconds()));
        if (host.latenessMaxNanos() > 0) {
            result.words(String.format(
                    Locale.ROOT,
                    "lateness against the wall clock: p50 %.2f ms, p99 %.2f ms, max %.2f ms\n",
                    host.latenessP50Nanos() / NANOS_PER_MILLI,
                    host.latenessP99Nanos() / NANOS_PER_MILLI,
                    host.latenessMaxNanos() / NANOS_PER_MILLI));
        }
    }
}
