package understudy.scenario;

import com.typesafe.config.Config;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.api.kvevents.KvEventSettings;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.Subscriber;
import understudy.faults.FaultPlan;
import understudy.latency.ProfiledLatency;
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
 * @param workload the section, which {@link #openWorkload()} reads
 * @param faults what goes wrong when
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
        RouterSettings router,
        Section workload,
        FaultPlan faults,
        Optional<KvEventSettings> kvEvents,
        String hashAlgorithm,
        Section server,
        double speed,
        boolean savesDetails) {
    private static final int MAX_REPLICAS = 100_000;

    /** Reads a merged scenario. */
    public static Scenario read(Config config) {
        var root = new Section(config, "");
        var router = RouterSettings.read(root.section("router"));
        long seed = root.wholeNumber("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        int numReplicas = root.section("cluster").wholeNumber("replicas", 1, MAX_REPLICAS);
        var kvCache = root.section("kv-cache");
        var kvEvents = KvEventsSection.read(kvCache.section("kv-events"), numReplicas);
        var latency = LatencySettings.read(root.section("latency"), kvCache);
        var engine = EngineSettings.read(
                root.section("engine"), kvCache, router.usesKvEvents() || kvEvents.isPresent(), latency.deployment());
        requireKvEvents(root.section("router"), router, engine);
        return new Scenario(
                seed,
                numReplicas,
                engine,
                latency,
                router,
                root.section("workload"),
                FaultSettings.read(root.section("faults"), seed, numReplicas),
                kvEvents,
                root.section("kv-cache").text("hash-algo"),
                root.section("server"),
                root.section("clock").positive("speed", "max"),
                root.section("report").bool("save-detailed"));
    }

    /** A router that follows KV events needs replicas that publish some. */
    private static void requireKvEvents(Section section, RouterSettings router, EngineSettings engine) {
        if (!router.usesKvEvents()) {
            return;
        }
        if (engine.kind() == EngineKind.ROSEINFER) {
            throw section.unusable("policy", "which follows KV events, but engine.kind = roseinfer publishes none");
        }
        if (engine.kvCache().findsBySession()) {
            throw section.unusable(
                    "policy", "but kv-cache.sessions is on, and then no replica says what it has cached");
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

    /** Opens the workload, which checks its settings; the caller closes it. */
    public Workload openWorkload() {
        return WorkloadSettings.open(workload, new RandomStreams(seed), engine.maxModelLen());
    }

    /** Returns the cluster to build for a server: requests come from outside, and no record is kept of them. */
    public ClusterSpec clusterSpec() {
        return clusterSpec(null, null, false);
    }

    /** Returns the cluster to build for a workload. */
    public ClusterSpec clusterSpec(Workload openWorkload) {
        return clusterSpec(openWorkload, null, true);
    }

    /**
     * Returns the cluster to build.
     *
     * @param openWorkload null if requests come from outside
     * @param subscriber is told what happens in the cluster, or null
     * @param keepsRecords whether a record of every request is kept for the report
     */
    public ClusterSpec clusterSpec(
            @Nullable Workload openWorkload, @Nullable Subscriber subscriber, boolean keepsRecords) {
        var replicas = IntStream.range(0, numReplicas)
                .mapToObj(replica -> new ReplicaSpec(
                        engine.scheduler(),
                        engine.limits(),
                        engine.kvCache(),
                        latency.modelOf(replica, new RandomStreams(seed)),
                        latency.apiDelayNanos(),
                        savesDetails,
                        0))
                .toList();
        return new ClusterSpec(
                replicas,
                router.create(engine.kvCache().hasher(), numReplicas, engine.maxModelLen()),
                router.kvEventDelay(),
                openWorkload,
                faults,
                subscriber,
                keepsRecords);
    }
}
