package understudy.app;

import com.typesafe.config.Config;
import java.util.Map;
import java.util.Optional;
import understudy.api.KvEventSettings;
import understudy.cluster.ClusterListeners;
import understudy.cluster.ClusterSpec;

/**
 * A scenario for programs that run a cluster inside themselves, and send the requests. Neither environment variables nor the
 * section {@code workload} count.
 */
public final class EmbeddedScenario {
    private final Scenario scenario;

    private EmbeddedScenario(Scenario scenario) {
        this.scenario = scenario;
    }

    /**
     * Reads settings over the defaults of {@code reference.conf}.
     *
     * @throws RuntimeException if a key is unknown or a value cannot be used; the message says which, and what is allowed
     */
    public static EmbeddedScenario of(Config settings) {
        return new EmbeddedScenario(Scenario.read(new ScenarioFile(Map.of()).load(settings)));
    }

    /**
     * Returns the cluster to build.
     *
     * @param listeners who hears of it outside of the cluster
     */
    public ClusterSpec clusterSpec(ClusterListeners listeners) {
        return scenario.clusterSpec(null, listeners, true);
    }

    /** Returns how KV events are to be published, or empty if they are not. */
    public Optional<KvEventSettings> kvEvents() {
        return scenario.kvEvents();
    }

    public int numReplicas() {
        return scenario.numReplicas();
    }

    /** Returns virtual seconds per wall second; infinite is as fast as possible. */
    public double speed() {
        return scenario.speed();
    }
}
