package understudy.chaos.scenario;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import understudy.chaos.evidence.Bounds;
import understudy.chaos.fleet.FleetSettings;
import understudy.chaos.fleet.Injection;
import understudy.chaos.load.LoadSettings;

/**
 * One scenario.
 *
 * @param name name by which it is chosen
 * @param description one sentence: what happens
 * @param incident public incident of this kind, such as {@code vllm-project/vllm#39863}; an empty text if none is
 *     known
 * @param fleet the replicas
 * @param load streams of calls
 * @param injections what goes wrong, in the order of time
 * @param laws names of the laws that judge it
 * @param bounds numbers that the laws compare with
 */
@RecordBuilder
public record ChaosScenario(
        String name,
        String description,
        String incident,
        FleetSettings fleet,
        List<LoadSettings> load,
        List<Injection> injections,
        List<String> laws,
        Bounds bounds)
        implements NamedScenario {

    public ChaosScenario {
        load = List.copyOf(load);
        injections = List.copyOf(injections);
        laws = List.copyOf(laws);
    }

    /** Returns whether it is about certificates, and so makes no sense unless replicas speak TLS. */
    @Override
    public boolean needsTls() {
        return injections.stream()
                .anyMatch(injection -> injection.action() instanceof Injection.Begin begin
                        && begin.fault().kind().isOfTls());
    }

    /** Returns the number of replicas. */
    public int numReplicas() {
        return fleet.engines().size();
    }
}
