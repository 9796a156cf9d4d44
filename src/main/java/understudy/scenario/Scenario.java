package understudy.scenario;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.api.ServerSettings;
import understudy.api.ServerSettingsServedBuilder;
import understudy.api.kvevents.KvEventSettings;
import understudy.api.kvevents.KvEventsSection;
import understudy.api.model.Tokenizer;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits.Feature;
import understudy.engine.version.EngineVersions;
import understudy.faults.FaultPlan;
import understudy.faults.FaultSettings;
import understudy.host.Actors;
import understudy.latency.ApiDelay;
import understudy.latency.kind.LatencySettings;
import understudy.report.ReportSettings;
import understudy.report.ServiceLevels;
import understudy.report.SloSettings;
import understudy.routing.DisaggregationSpec.Decider;
import understudy.routing.Role;
import understudy.routing.RouterSpec;
import understudy.routing.Signal;
import understudy.routing.admission.AdmissionSettings;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.policy.RouterSettings;
import understudy.scaling.ScalingSettings;
import understudy.scaling.ScalingSpec;
import understudy.settings.Section;
import understudy.transfer.TransferSettings;
import understudy.workload.RandomStreams;
import understudy.workload.Traffic;
import understudy.workload.Workload;
import understudy.workload.kind.WorkloadSettings;

/**
 * A scenario whose settings have all been checked.
 *
 * @param seed of every random stream
 * @param groups of like replicas, at least one
 * @param router how a replica is chosen
 * @param admission which requests wait, or are turned away, before
 * @param workload requests that arrive, which {@link #workloadSource()} reads
 * @param faults faults and operations with their times
 * @param serviceLevels limits that a report holds latencies against
 * @param scaling rule for the number of replicas, and their price; empty if there is neither
 * @param kvEvents how KV events are published; empty if they are not
 * @param server how it is served over HTTP, which is read by those who serve it
 * @param speed virtual seconds per wall second; infinite is as fast as possible
 * @param report further parts of a report
 */
@RecordBuilder
public record Scenario(
        long seed,
        List<ReplicaGroup> groups,
        RouterSpec router,
        AdmissionSpec admission,
        WorkloadSettings workload,
        FaultPlan faults,
        ServiceLevels serviceLevels,
        Optional<ScalingSpec> scaling,
        Optional<KvEventSettings> kvEvents,
        ServerSettings server,
        double speed,
        ReportSettings report) {
    /** Reads a merged scenario. */
    public static Scenario read(Section root) {
        long seed = root.wholeNumber("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        var serviceLevels = SloSettings.read(root.section("slo"));
        var admission = AdmissionSettings.read(
                root.section("router").section("admission"),
                root.section("router").text("policy"),
                serviceLevels);
        boolean isDisaggregated = ReplicaGroup.haveRoles(root);
        var router = RouterSettings.read(root.section("router"), seed, admission, isDisaggregated);
        var kvEventSection = root.section("kv-cache").section("kv-events");
        boolean recordsKvEvents = router.wants(Signal.KV_EVENTS) || KvEventsSection.isEnabled(kvEventSection);
        var groups = ReplicaGroup.read(root, recordsKvEvents);
        int numReplicas = groups.stream().mapToInt(ReplicaGroup::numReplicas).sum();
        var kvEvents = KvEventsSection.read(kvEventSection, numReplicas);
        for (var group : groups) {
            requireKvEvents(root.section("router"), router, group.engine());
        }
        if (groups.get(0).pushesKv() && isDisaggregated) {
            requireBothAtOnce(root.section("router").section("disaggregation"), router);
        }
        if (router.minPeerFetchTokens() > 0 && groups.stream().noneMatch(group -> group.hasHostMemory())) {
            throw root.section("router").unusable("peer-fetch-min-tokens", "which needs kv-cache.tiers.host");
        }
        var workload =
                new WorkloadSettings(root.section("workload"), () -> Tokenizer.Vocabulary.CL100K_BASE.load()::encode);
        if (workload.numLoras() > 0) {
            requireLoras(root.section("workload"), groups);
        }
        requireSameLength(root.section("cluster"), groups);
        if (recordsKvEvents) {
            requireSameHashes(root.section("cluster"), groups);
        }
        var faults = FaultSettings.read(root.section("faults"), seed, numReplicas);
        var scaling = scaling(root.section("scaling"), groups, admission);
        double speed = root.section("clock").positive("speed", "max");
        return ScenarioBuilder.builder()
                .seed(seed)
                .groups(groups)
                .router(router)
                .admission(admission)
                .workload(workload)
                .faults(faults)
                .serviceLevels(serviceLevels)
                .scaling(scaling)
                .kvEvents(kvEvents)
                .server(server(root, seed, groups, speed))
                .speed(speed)
                .report(ReportSettings.read(root.section("report")))
                .build();
    }

    private static ServerSettings server(Section root, long seed, List<ReplicaGroup> groups, double speed) {
        var first = groups.get(0);
        var kvCache = root.section("kv-cache");
        var served = ServerSettingsServedBuilder.builder()
                .seed(seed)
                .numReplicas(groups.stream().mapToInt(ReplicaGroup::numReplicas).sum())
                .engine(first.engine())
                .version(EngineVersions.profile(root.section("engine")))
                .hardware(first.hardware())
                .numGpus(first.deployment().numGpus())
                .tensorParallelSize(first.deployment().tensorParallelSize())
                .hiddenSize(first.deployment().hiddenSize())
                .hashAlgorithm(kvCache.text("hash-algo"))
                .reachesOutside(TransferSettings.reachesOutside(kvCache.section("transfer")))
                .hasRooms(TransferSettings.hasRooms(kvCache.section("transfer")))
                .hasPrefill(groups.stream().anyMatch(group -> group.role() == Role.PREFILL))
                .speed(speed)
                .build();
        return new ServerSettings(root.section("server"), served);
    }

    private static Optional<ScalingSpec> scaling(Section scaling, List<ReplicaGroup> groups, AdmissionSpec admission) {
        var first = groups.get(0);
        int numGpus = first.deployment().numGpus();
        var replica = new ScalingSettings.Replica(
                numGpus,
                first.deployment().weightBytes(),
                first.prefillTokensPerSecond(first.latency().apiDelay()));
        var spec = ScalingSettings.read(scaling, replica, admission.queue().maxRequests() > 0);
        if (spec.isPresent()
                && groups.stream().anyMatch(group -> group.deployment().numGpus() != numGpus)) {
            throw scaling.unusable(
                    spec.get().rule().isPresent() ? "rule" : "gpu-hour-price",
                    "but the GPUs of replicas cannot be counted where cluster.groups differ in tensor-parallel-size");
        }
        return spec;
    }

    private static void requireLoras(Section workload, List<ReplicaGroup> groups) {
        boolean hasAll =
                groups.stream().allMatch(group -> group.engine().traits().has(Feature.ADAPTERS));
        if (!hasAll) {
            throw workload.section("loras")
                    .unusable(
                            "count",
                            "which needs engine.lora.enable = true, or engine.sglang.enable-lora = true with SGLang");
        }
    }

    /** Engines that push KV share each request, and one that answers computes no prompt. */
    private static void requireBothAtOnce(Section section, RouterSpec router) {
        var spec = Objects.requireNonNull(router.disaggregation());
        if (spec.decider() == Decider.CONDITIONAL || spec.decider() == Decider.NEVER) {
            throw section.unusable(
                    "decider", "but the engines that answer compute no prompts, so that it is always; leave it out");
        }
        if (spec.decodesLocallyOnFailure()) {
            throw section.unusable(
                    "on-prefill-failure", "but the engines that answer compute no prompts; set it to fail");
        }
    }

    /** A router that follows KV events needs replicas that publish some. */
    private static void requireKvEvents(Section section, RouterSpec router, EngineSpec engine) {
        if (!router.wants(Signal.KV_EVENTS)) {
            return;
        }
        if (engine.kvCache().findsBySession()) {
            throw section.unusable(
                    "policy",
                    "but kv-cache.sessions is on, and then no replica says what it has cached;"
                            + " router.policy = session-affinity keeps a session on its replica");
        }
        if (!engine.kvCache().publishesEvents()) {
            throw section.unusable(
                    "policy",
                    "which follows KV events, but engine.kind = "
                            + engine.traits().family() + " publishes none");
        }
    }

    /** A replica that turns long prompts away would have the least load, and so get the most. */
    private static void requireSameLength(Section cluster, List<ReplicaGroup> groups) {
        var first = groups.get(0);
        for (var group : groups) {
            if (group.engine().kvCache().maxModelLen()
                    != first.engine().kvCache().maxModelLen()) {
                throw cluster.unusable(
                        "groups",
                        "but max-model-len is " + first.engine().kvCache().maxModelLen() + " in " + first.name()
                                + " and "
                                + group.engine().kvCache().maxModelLen() + " in " + group.name()
                                + "; set engine.max-model-len to what all can hold");
            }
        }
    }

    /** Requires equal block hashes in all groups, since readers of their KV events can compare no others. */
    private static void requireSameHashes(Section cluster, List<ReplicaGroup> groups) {
        var first = groups.get(0).engine().kvCache().hasher();
        for (var group : groups.subList(1, groups.size())) {
            if (!group.engine().kvCache().hasher().equals(first)) {
                throw cluster.unusable(
                        "groups",
                        "but where KV events are read all groups must have the same kv-cache.block-size, hash-algo and"
                                + " hash-seed");
            }
        }
    }

    /** Returns the tokens of a KV block, as the first group has it. */
    public int blockSize() {
        return groups.get(0).engine().kvCache().blockSize();
    }

    /** Returns how many replicas there are at the start, at least 1. */
    public int numReplicas() {
        return groups.stream().mapToInt(ReplicaGroup::numReplicas).sum();
    }

    /** Returns the engine of the first group. */
    public EngineSpec engine() {
        return groups.get(0).engine();
    }

    /** Returns how long a step of the first group takes. */
    public LatencySettings latency() {
        return groups.get(0).latency();
    }

    /** Returns the model and the GPUs whose times the first group has, such as "qwen3-32b on 2 x h100-sxm". */
    public String hardware() {
        return groups.get(0).hardware();
    }

    /** Returns the longest sequence in tokens that every replica takes. */
    public int maxModelLen() {
        return engine().kvCache().maxModelLen();
    }

    /** Returns the conclusions from the settings, a line each. */
    public List<String> reasons() {
        return groups.stream().flatMap(group -> group.reasons().stream()).toList();
    }

    /** Returns what tells how long steps take, a line each. */
    public List<String> latencySources() {
        return groups.stream()
                .flatMap(group -> group.latency().model().sources().stream())
                .distinct()
                .toList();
    }

    /** Returns reservations about the results, a line each. */
    public List<String> warnings() {
        return groups.stream()
                .flatMap(group -> group.warnings().stream())
                .distinct()
                .toList();
    }

    /** Returns the settings from which this was read, with values in place of words such as {@code auto}. */
    public Section resolve(Section root) {
        return ReplicaGroup.resolve(groups, root);
    }

    /** Returns the workload, whose settings are checked; its file is opened with it. */
    public Workload.Source workloadSource() {
        return workload.source(new RandomStreams(seed), maxModelLen());
    }

    /** Returns the pace of the workload. */
    public Traffic traffic() {
        return workload.traffic();
    }

    /**
     * Returns the cluster to build.
     *
     * @param source requests that arrive, or null if they come from outside
     * @param keepsRecords whether a record of every request is kept for the report; a server keeps none
     */
    public ClusterSpec clusterSpec(Workload.@Nullable Source source, boolean keepsRecords) {
        double unit = groups.get(0).prefillTokensPerSecond(ApiDelay.NONE);
        var replicas = new ArrayList<ReplicaSpec>();
        var kinds = new ArrayList<ReplicaSpec>();
        for (var group : groups) {
            var kind = group.spec(unit, new RandomStreams(seed), report.savesDetails());
            kinds.add(kind);
            replicas.addAll(Collections.nCopies(group.numReplicas(), kind));
        }
        return new ClusterSpec(
                Actors.STANDARD, replicas, kinds, router, admission, source, faults, keepsRecords, scaling);
    }
}
