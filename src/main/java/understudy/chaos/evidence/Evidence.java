package understudy.chaos.evidence;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/**
 * All that a scenario left behind.
 *
 * @param scenario name of the scenario
 * @param bounds numbers that the laws compare with
 * @param durationNanos time from the scenario's start to its end
 * @param replicas names of the replicas, in their order
 * @param calls calls of the client, in the order in which they were sent
 * @param attempts requests that came to replicas, in the order in which they came
 * @param phases states of the replicas, without gaps, each replica's in the order of time
 * @param connections connections to the replicas over time; the last samples stand after a pause without load
 * @param isGatewayAlive whether the gateway still answered at the end
 * @param lateness how late the machine was meanwhile
 */
@RecordBuilder
public record Evidence(
        String scenario,
        Bounds bounds,
        long durationNanos,
        List<String> replicas,
        List<ClientCall> calls,
        List<Attempt> attempts,
        List<ReplicaPhase> phases,
        List<ConnectionSample> connections,
        boolean isGatewayAlive,
        Lateness lateness)
        implements ScenarioEvidence {

    public Evidence {
        replicas = List.copyOf(replicas);
        calls = List.copyOf(calls);
        attempts = List.copyOf(attempts);
        phases = List.copyOf(phases);
        connections = List.copyOf(connections);
    }
}
