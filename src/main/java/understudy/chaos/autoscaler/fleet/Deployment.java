package understudy.chaos.autoscaler.fleet;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import understudy.chaos.autoscaler.evidence.ReplicaCounts;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaState;
import understudy.scaling.ScalingSignals;
import understudy.testkit.EmulatedCluster;

/**
 * Emulated replicas that follow a wanted number, as the Deployment controller of Kubernetes has it: the youngest ones
 * go first, those that start before those that are ready, and a replica that goes finishes its requests. One thread uses
 * it.
 */
public final class Deployment implements AutoCloseable {
    /** Requests that a replica runs at the same time. */
    public static final int REQUESTS_PER_REPLICA = 4;

    /** As many as the nodes of a cluster take; what is wanted beyond that never starts, whatever an autoscaler asks for. */
    private static final int MAX_REPLICAS = 64;

    /** An answer takes 0.2 s: 20 steps of 10 ms. */
    private static final int ANSWER_TOKENS = 20;

    private static final String SETTINGS = """
            clock.speed = 1
            latency {
              model = linear
              linear { per-step = 10ms, per-token = 0us, per-decode-seq = 0us, per-kv-token = 0ns }
              api-delay = 0us
              api-delay-per-prompt-token = 0us
            }
            engine.max-num-seqs = %d
            router.policy = least-outstanding
            router.admission.queue { max-requests = 100000, max-wait = 10m }
            cluster.replicas = %d
            faults.startup-time = %dms
            """;

    private final EmulatedCluster cluster;
    private final Load load;
    private List<ReplicaState> states = List.of();

    /**
     * Starts replicas.
     *
     * @param replicas those that are ready from the start, which may be 0
     * @param startupMillis from the start of one that joins to its first request
     * @param steps load, in the order of time, the first at 0
     * @param seed of the load
     */
    public Deployment(int replicas, long startupMillis, List<LoadStep> steps, long seed) {
        int some = Math.max(1, replicas);
        cluster = EmulatedCluster.serve(SETTINGS.formatted(REQUESTS_PER_REPLICA, some, startupMillis));
        load = new Load(cluster, steps, ANSWER_TOKENS, seed);
        states = cluster.states();
        if (replicas == 0) {
            cluster.inject(new FleetChange.Remove(0));
        }
    }

    /** Returns the cluster's metrics, with the label {@code engine}; any thread may ask. */
    public String metrics() {
        return cluster.server().api().metrics().text();
    }

    /** Sends the requests that are due, and starts and removes replicas until there are as many as wanted. */
    public void look(long nowNanos, int wanted) {
        load.look(nowNanos);
        states = cluster.states();
        int present = ready().size() + starting().size();
        for (int i = present; i < Math.min(wanted, MAX_REPLICAS); i++) {
            cluster.inject(new FleetChange.Add());
        }
        if (present > wanted) {
            new ScalingSignals(states, 1)
                    .leaving(present - wanted)
                    .forEach(replica -> cluster.inject(new FleetChange.Remove(replica)));
        }
        if (present != wanted) {
            states = cluster.states();
        }
    }

    /** Returns the replicas that take requests, by index. */
    public SortedMap<Integer, String> ready() {
        return in(ReplicaState.READY);
    }

    /** Returns the replicas that will take requests, by index. */
    public SortedMap<Integer, String> starting() {
        return in(ReplicaState.STARTING);
    }

    private SortedMap<Integer, String> in(ReplicaState state) {
        var names = new TreeMap<Integer, String>();
        IntStream.range(0, states.size())
                .filter(i -> states.get(i) == state)
                .forEach(i -> names.put(i, "replica-" + i));
        return names;
    }

    /** Returns the counts of now. */
    public ReplicaCounts counts(long nowNanos, int wanted) {
        return new ReplicaCounts(nowNanos, wanted, ready().size(), starting().size(), load.numUnfinished());
    }

    @Override
    public void close() {
        cluster.close();
    }
}
