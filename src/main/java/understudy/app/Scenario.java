package understudy.app;

import com.typesafe.config.Config;
import java.util.List;
import java.util.stream.IntStream;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
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
 * @param speed virtual seconds per wall second; infinite is as fast as possible
 * @param savesDetails whether to keep the time of every token
 */
record Scenario(
        long seed,
        int numReplicas,
        EngineSettings engine,
        LatencySettings latency,
        RouterSettings router,
        Section workload,
        double speed,
        boolean savesDetails) {
    private static final int MAX_REPLICAS = 100_000;

    /** Reads a merged scenario. */
    static Scenario read(Config config) {
        var root = new Section(config, "");
        var router = RouterSettings.read(root.section("router"));
        var latency = LatencySettings.read(root.section("latency"), root.section("kv-cache"));
        var engine = EngineSettings.read(
                root.section("engine"), root.section("kv-cache"), router.usesKvEvents(), latency.deployment());
        if (engine.kind() == EngineKind.ROSEINFER && router.usesKvEvents()) {
            throw root.section("router")
                    .unusable("policy", "which follows KV events, but engine.kind = roseinfer publishes none");
        }
        if (router.usesKvEvents() && engine.kvCache().findsBySession()) {
            throw root.section("router")
                    .unusable("policy", "but kv-cache.sessions is on, and then no replica says what it has cached");
        }
        return new Scenario(
                root.wholeNumber("seed", Long.MIN_VALUE, Long.MAX_VALUE),
                root.section("cluster").wholeNumber("replicas", 1, MAX_REPLICAS),
                engine,
                latency,
                router,
                root.section("workload"),
                root.section("clock").positive("speed", "max"),
                root.section("report").bool("save-detailed"));
    }

    /** Returns what the user should know before believing the results, a line each. */
    List<String> warnings() {
        return latency.model() instanceof ProfiledLatency profiled
                ? profiled.warnings(
                        engine.scheduler().maxNumBatchedTokens(),
                        engine.scheduler().maxNumSeqs(),
                        engine.scheduler().maxModelLen())
                : List.of();
    }

    /** Returns {@code config}, from which this was read, with values in place of words such as {@code auto}. */
    Config resolve(Config config) {
        return engine.resolve(config);
    }

    /** Opens the workload, which checks its settings; the caller closes it. */
    Workload openWorkload() {
        return WorkloadSettings.open(
                workload, new RandomStreams(seed), engine.scheduler().maxModelLen());
    }

    /** Returns the cluster to build for a workload. */
    ClusterSpec clusterSpec(Workload openWorkload) {
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
                router.create(
                        engine.kvCache().hasher(),
                        numReplicas,
                        engine.scheduler().maxModelLen()),
                router.kvEventDelay(),
                openWorkload);
    }
}
