package understudy.scenario;

import com.typesafe.config.Config;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.api.kvevents.KvEventSettings;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.VirtualGpu;
import understudy.engine.SchedulerConfig;
import understudy.faults.FaultPlan;
import understudy.latency.ProfiledLatency;
import understudy.routing.RouterSpec;
import understudy.routing.Signal;
import understudy.scaling.ScalingSpec;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;

/**
 * A scenario whose settings have all been checked.
 *
 * @param seed of every random stream
 * @param numReplicas at least 1
 * @param engine settings of every replica's scheduler and memory
 * @param latency how long a step takes
 * @param router how a replica is chosen
 * @param workload the section, which {@link #workloadSource()} reads
 * @param faults what goes wrong when
 * @param scaling who decides how many replicas there are, and what they cost; empty if both do not matter
 * @param kvEvents how KV events are published; empty if they are not
 * @param hashAlgorithm name of the block hash
 * @param server the section, which only a server reads
 * @param speed virtual seconds per wall second; infinite is as fast as possible
 * @param savesDetails whether to keep the time of every token
 */
public record Scenario(
        long seed,
        int numReplicas,
        EngineSettings engine,
        LatencySettings latency,
        RouterSpec router,
        Section workload,
        FaultPlan faults,
        Optional<ScalingSpec> scaling,
        Optional<KvEventSettings> kvEvents,
        String hashAlgorithm,
        Section server,
        double speed,
        boolean savesDetails) {
    private static final int MAX_REPLICAS = 100_000;

    /** Reads a merged scenario. */
    public static Scenario read(Config config) {
        var root = new Section(config, "");
        long seed = root.wholeNumber("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        var router = RouterSettings.read(root.section("router"), seed);
        int numReplicas = root.section("cluster").wholeNumber("replicas", 1, MAX_REPLICAS);
        var kvCache = root.section("kv-cache");
        var kvEvents = KvEventsSection.read(kvCache.section("kv-events"), numReplicas);
        var latency = LatencySettings.read(root.section("latency"), kvCache);
        var engine = EngineSettings.read(
                root.section("engine"),
                kvCache,
                router.policy().wants(Signal.KV_EVENTS) || kvEvents.isPresent(),
                latency.deployment());
        requireKvEvents(root.section("router"), router, engine);
        requireReservation(root.section("engine"), engine);
        return new Scenario(
                seed,
                numReplicas,
                engine,
                latency,
                router,
                root.section("workload"),
                FaultSettings.read(root.section("faults"), seed, numReplicas),
                ScalingSettings.read(root.section("scaling"), latency, engine.maxNumBatchedTokens()),
                kvEvents,
                root.section("kv-cache").text("hash-algo"),
                root.section("server"),
                root.section("clock").positive("speed", "max"),
                root.section("report").bool("save-detailed"));
    }

    /** With sessions a preempted request starts anew, so requests that take each other's blocks may never end. */
    private static void requireReservation(Section section, EngineSettings engine) {
        boolean reserves = !(engine.scheduler() instanceof SchedulerConfig vllm) || vllm.reserveFullSequence();
        if (engine.kvCache().findsBySession() && !reserves) {
            throw section.unusable(
                    "scheduler-reserve-full-isl",
                    "but with kv-cache.sessions a preempted request starts anew, and without the reservation requests may"
                            + " preempt each other for ever");
        }
    }

    /** A router that follows KV events needs replicas that publish some. */
    private static void requireKvEvents(Section section, RouterSpec router, EngineSettings engine) {
        if (!router.wants(Signal.KV_EVENTS)) {
            return;
        }
        if (engine.kind() == EngineKind.ROSEINFER) {
            throw section.unusable("policy", "which follows KV events, but engine.kind = roseinfer publishes none");
        }
        if (engine.kvCache().findsBySession()) {
            throw section.unusable(
                    "policy",
                    "but kv-cache.sessions is on, and then no replica says what it has cached;"
                            + " router.policy = session-affinity keeps a session on its replica");
        }
    }

    /** Returns what the user should know before believing the results, a line each. */
    public List<String> warnings() {
        return latency.model() instanceof ProfiledLatency profiled
                ? profiled.warnings(
                        engine.maxNumBatchedTokens(), engine.scheduler().maxNumSeqs(), engine.maxModelLen())
                : List.of();
    }

    /** Returns {@code config}, from which this was read, with values in place of words such as {@code auto}. */
    public Config resolve(Config config) {
        return engine.resolve(config);
    }

    /** Returns the workload, whose settings are checked; its file is opened with it. */
    public Workload.Source workloadSource() {
        return WorkloadSettings.read(workload, new RandomStreams(seed), engine.maxModelLen());
    }

    /**
     * Returns the cluster to build.
     *
     * @param source what arrives, or null if requests come from outside
     * @param keepsRecords whether a record of every request is kept for the report; a server keeps none
     */
    public ClusterSpec clusterSpec(Workload.@Nullable Source source, boolean keepsRecords) {
        var device = VirtualGpu.Factory.of(latency.model(), latency.jitter(), new RandomStreams(seed));
        var replica = ReplicaSpec.of(engine.scheduler(), engine.limits(), engine.kvCache(), device)
                .withApiDelayNanos(latency.apiDelayNanos())
                .withTokenTimes(savesDetails);
        return new ClusterSpec(
                Collections.nCopies(numReplicas, replica), router, source, faults, keepsRecords, scaling);
    }
}
