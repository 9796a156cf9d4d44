package understudy.scenario;

import com.typesafe.config.Config;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.api.kvevents.KvEventSettings;
import understudy.api.kvevents.KvEventsSection;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits.Feature;
import understudy.faults.FaultPlan;
import understudy.faults.FaultSettings;
import understudy.host.Actors;
import understudy.report.ServiceLevels;
import understudy.routing.RouterSpec;
import understudy.routing.Signal;
import understudy.routing.admission.AdmissionSettings;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.policy.RouterSettings;
import understudy.scaling.ScalingSpec;
import understudy.scenario.workload.WorkloadSettings;
import understudy.settings.Section;
import understudy.workload.RandomStreams;
import understudy.workload.Traffic;
import understudy.workload.Workload;

/**
 * A scenario whose settings have all been checked.
 *
 * @param seed of every random stream
 * @param groups of like replicas, at least one
 * @param router how a replica is chosen
 * @param admission which requests wait, or are turned away, before
 * @param workload the section, which {@link #workloadSource()} reads
 * @param faults what goes wrong when
 * @param serviceLevels what a report holds latencies against
 * @param scaling who decides how many replicas there are, and what they cost; empty if both do not matter
 * @param kvEvents how KV events are published; empty if they are not
 * @param hashAlgorithm name of the block hash
 * @param kvTransfer the section {@code kv-cache.transfer}, of which a server reads whether other processes take part
 * @param server the section, which only a server reads
 * @param speed virtual seconds per wall second; infinite is as fast as possible
 * @param timelineSeconds length of the intervals of a report's timeline; 0 is none
 * @param savesDetails whether to keep the time of every token
 */
@RecordBuilder
public record Scenario(
        long seed,
        List<ReplicaGroup> groups,
        RouterSpec router,
        AdmissionSpec admission,
        Section workload,
        FaultPlan faults,
        ServiceLevels serviceLevels,
        Optional<ScalingSpec> scaling,
        Optional<KvEventSettings> kvEvents,
        String hashAlgorithm,
        Section kvTransfer,
        Section server,
        double speed,
        int timelineSeconds,
        boolean savesDetails) {
    /** Reads a merged scenario. */
    public static Scenario read(Config config) {
        var root = new Section(config, "");
        long seed = root.wholeNumber("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        var serviceLevels = SloSettings.read(root.section("slo"));
        var admission = AdmissionSettings.read(
                root.section("router").section("admission"),
                root.section("router").text("policy"),
                serviceLevels);
        boolean isDisaggregated = ReplicaGroup.haveRoles(root.section("cluster"));
        var router = RouterSettings.read(root.section("router"), seed, admission, isDisaggregated);
        var kvEventSection = root.section("kv-cache").section("kv-events");
        boolean recordsKvEvents = router.wants(Signal.KV_EVENTS) || KvEventsSection.isEnabled(kvEventSection);
        var groups = ReplicaGroup.read(root, recordsKvEvents);
        int numReplicas = groups.stream().mapToInt(ReplicaGroup::numReplicas).sum();
        var kvEvents = KvEventsSection.read(kvEventSection, numReplicas);
        for (var group : groups) {
            requireKvEvents(root.section("router"), router, group.engine());
        }
        if (router.minPeerFetchTokens() > 0 && groups.stream().noneMatch(group -> group.hasHostMemory())) {
            throw root.section("router").unusable("peer-fetch-min-tokens", "which needs kv-cache.tiers.host");
        }
        requireLoras(root.section("workload"), groups);
        requireSameLength(root.section("cluster"), groups);
        if (recordsKvEvents) {
            requireSameHashes(root.section("cluster"), groups);
        }
        return ScenarioBuilder.builder()
                .seed(seed)
                .groups(groups)
                .router(router)
                .admission(admission)
                .workload(root.section("workload"))
                .faults(FaultSettings.read(root.section("faults"), seed, numReplicas))
                .serviceLevels(serviceLevels)
                .scaling(ScalingSettings.read(root.section("scaling"), groups, admission))
                .kvEvents(kvEvents)
                .hashAlgorithm(root.section("kv-cache").text("hash-algo"))
                .kvTransfer(root.section("kv-cache").section("transfer"))
                .server(root.section("server"))
                .speed(root.section("clock").positive("speed", "max"))
                .timelineSeconds(timelineSeconds(root.section("report")))
                .savesDetails(root.section("report").bool("save-detailed"))
                .build();
    }

    private static void requireLoras(Section workload, List<ReplicaGroup> groups) {
        boolean hasAll =
                groups.stream().allMatch(group -> group.engine().traits().has(Feature.ADAPTERS));
        if (WorkloadSettings.numLoras(workload) > 0 && !hasAll) {
            throw workload.section("loras").unusable("count", "which needs engine.lora.enable = true");
        }
    }

    private static int timelineSeconds(Section report) {
        var nanos = report.nanosOrOff("timeline");
        double seconds = nanos.orElse(0) / 1e9;
        if (seconds != Math.rint(seconds) || (nanos.isPresent() && seconds == 0)) {
            throw report.unusable("timeline", "must be off, or whole seconds such as 1s");
        }
        return (int) seconds;
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

    /** What reads the KV events of several groups can only compare hashes of equal blocks. */
    private static void requireSameHashes(Section cluster, List<ReplicaGroup> groups) {
        var first = groups.get(0).engine().kvCache().hasher();
        for (var group : groups) {
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

    /** Returns what follows from the settings, a line each. */
    public List<String> reasons() {
        return groups.stream().flatMap(group -> group.reasons().stream()).toList();
    }

    /** Returns what the user should know before believing the results, a line each. */
    public List<String> warnings() {
        return groups.stream().flatMap(group -> group.warnings().stream()).toList();
    }

    /** Returns {@code config}, from which this was read, with values in place of words such as {@code auto}. */
    public Config resolve(Config config) {
        return ReplicaGroup.resolve(groups, config);
    }

    /** Returns the workload, whose settings are checked; its file is opened with it. */
    public Workload.Source workloadSource() {
        return WorkloadSettings.read(workload, new RandomStreams(seed), maxModelLen());
    }

    /** Returns the pace of the workload. */
    public Traffic traffic() {
        return WorkloadSettings.traffic(workload);
    }

    /**
     * Returns the cluster to build.
     *
     * @param source what arrives, or null if requests come from outside
     * @param keepsRecords whether a record of every request is kept for the report; a server keeps none
     */
    public ClusterSpec clusterSpec(Workload.@Nullable Source source, boolean keepsRecords) {
        double unit = groups.get(0).prefillTokensPerSecond();
        var replicas = new ArrayList<ReplicaSpec>();
        var kinds = new ArrayList<ReplicaSpec>();
        for (var group : groups) {
            var kind = group.spec(unit, new RandomStreams(seed), savesDetails);
            kinds.add(kind);
            replicas.addAll(Collections.nCopies(group.numReplicas(), kind));
        }
        return new ClusterSpec(
                Actors.STANDARD, replicas, kinds, router, admission, source, faults, keepsRecords, scaling);
    }
}
