package understudy.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A run to be timed.
 *
 * @param scenario the name by which it is chosen
 * @param replicas their number, where it can be chosen, else 0
 * @param requests their number, where it can be chosen, else 0
 * @param arguments of the program
 * @param heapMegabytes the largest heap
 */
record BenchRun(String scenario, int replicas, int requests, List<String> arguments, int heapMegabytes) {
    static final List<String> SCENARIOS = List.of("one", "w1", "w2", "b512", "reasoning", "mooncake");

    private static final int RATE_PER_REPLICA = 10;
    private static final int SMALL = 512;
    private static final int LARGE = 1024;

    /** Returns the runs of a scenario. */
    static List<BenchRun> of(String scenario, List<Integer> requests, List<Integer> replicas, Path trace) {
        return switch (scenario) {
            case "one" -> List.of(w1("one", 1));
            case "w1" -> requests.stream().map(count -> w1("w1", count)).toList();
            case "w2" ->
                requests.stream()
                        .flatMap(count -> replicas.stream().map(size -> w2(size, count)))
                        .toList();
            case "mooncake" -> List.of(of(scenario, 0, 0, "mooncake.conf", LARGE, "workload.trace=" + trace));
            default -> List.of(of(scenario, 0, 0, "bench/" + scenario + ".conf", LARGE));
        };
    }

    private static BenchRun w1(String scenario, int requests) {
        return of(scenario, 0, requests, "bench/w1.conf", SMALL, "workload.requests=" + requests);
    }

    private static BenchRun w2(int replicas, int requests) {
        return of(
                "w2",
                replicas,
                requests,
                "bench/w2.conf",
                LARGE,
                "cluster.replicas=" + replicas,
                "workload.arrivals.request-rate=" + RATE_PER_REPLICA * replicas,
                "workload.requests=" + requests);
    }

    private static BenchRun of(
            String scenario, int replicas, int requests, String file, int heapMegabytes, String... settings) {
        var arguments = new ArrayList<>(List.of("run", "conf/" + file));
        for (String setting : settings) {
            arguments.addAll(List.of("--set", setting));
        }
        return new BenchRun(scenario, replicas, requests, List.copyOf(arguments), heapMegabytes);
    }

    /** Returns the scenario with its sizes. */
    String name() {
        return scenario + (replicas > 0 ? ", " + replicas + " replicas" : "") + (requests > 1 ? ", " + requests : "");
    }

    /** Returns whether the other differs in one size alone, and is larger in it. */
    boolean growsTo(BenchRun other) {
        boolean hasMoreReplicas = requests == other.requests && replicas < other.replicas;
        boolean hasMoreRequests = replicas == other.replicas && requests < other.requests;
        return scenario.equals(other.scenario) && (hasMoreReplicas || hasMoreRequests);
    }
}
