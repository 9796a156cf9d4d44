package understudy.scenario;

import java.util.Map;
import java.util.Optional;
import understudy.api.call.ApiSettings;
import understudy.api.kvevents.KvEventSettings;
import understudy.cluster.ClusterSpec;
import understudy.settings.Section;

/**
 * A scenario for programs that run a cluster inside themselves, and send the requests. Neither environment variables
 * nor the section {@code workload} count, and a server listens at any port that is free unless the settings name one.
 */
public final class EmbeddedScenario {
    private static final Section ANY_PORT = Section.of("server.port = 0");

    private final Scenario scenario;

    private EmbeddedScenario(Scenario scenario) {
        this.scenario = scenario;
    }

    /**
     * Reads settings over the defaults of {@code understudy-defaults.conf}.
     *
     * @param settings in HOCON
     * @throws RuntimeException if a key is unknown or a value cannot be used; the message says which, and what is
     *     allowed
     */
    public static EmbeddedScenario of(String settings) {
        var merged = new ScenarioFile(Map.of()).load(Section.of(settings).withFallback(ANY_PORT));
        return new EmbeddedScenario(Scenario.read(merged));
    }

    /** Returns the cluster to build. */
    public ClusterSpec clusterSpec() {
        return scenario.clusterSpec(null, true);
    }

    /** Returns the cluster to build behind a server that has no end: no record of its requests is kept. */
    public ClusterSpec clusterSpecWithoutRecords() {
        return scenario.clusterSpec(null, false);
    }

    /**
     * Returns how the cluster is to be served over HTTP.
     *
     * @throws RuntimeException if a value cannot be used; the message says which, and what is allowed
     */
    public ApiSettings server() {
        return scenario.server().read();
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
