package understudy.api.call;

import java.util.HashMap;
import java.util.Map;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.cluster.ClusterEvent;
import understudy.faults.Fault;
import understudy.workload.RandomStreams;

/** Decides which streams have an event of broken JSON, which only the edge can break. Thread-safe. */
public final class MalformedStreams implements ClusterLink.Watcher {
    private static final int ALL_REPLICAS = -1;

    private final RandomStreams streams;
    private final Map<Integer, Die> dice = new HashMap<>();

    /** Creates dice without any fault. */
    public MalformedStreams(RandomStreams streams) {
        this.streams = streams;
    }

    /** The fault of one replica, or that of all. */
    private static final class Die {
        private final UniformRandomProvider random;
        private double rate;
        private int atToken;

        Die(UniformRandomProvider random) {
            this.random = random;
        }

        int roll() {
            return random.nextDouble() < rate ? atToken : 0;
        }
    }

    /** Follows events of the cluster: faults begin, and a replica that goes down ends its own. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StreamsMalformed malformed) {
            set(malformed.fault());
        } else if (event instanceof ClusterEvent.ReplicasChanged changed) {
            for (int i = 0; i < changed.states().size(); i++) {
                if (!changed.states().get(i).isUp()) {
                    clear(i);
                }
            }
        }
    }

    private synchronized void set(Fault.MalformStreams fault) {
        int replica = fault.replica().orElse(ALL_REPLICAS);
        var die = dice.computeIfAbsent(replica, index -> new Die(streams.stream("malformed-streams", index)));
        die.rate = fault.rate();
        die.atToken = fault.atToken();
    }

    private synchronized void clear(int replica) {
        dice.remove(replica);
    }

    /** A request that goes on at another replica keeps what was decided. */
    @Override
    public void onAdmitted(Generation generation, int replica) {
        boolean isFirst = generation.replicaIndex() == null;
        if (isFirst && generation.spec().params().streams()) {
            generation.malformAt(next(replica));
        }
    }

    /** Returns the output token whose event is broken in the next stream of a replica, counted from 1; 0 is none. */
    synchronized int next(int replica) {
        return dice.isEmpty() ? 0 : earlier(roll(ALL_REPLICAS), roll(replica));
    }

    private int roll(int replica) {
        var die = dice.get(replica);
        return die == null ? 0 : die.roll();
    }

    /** Returns the first one of two tokens, of which 0 is none. */
    static int earlier(int token, int other) {
        return token == 0 || other == 0 ? token + other : Math.min(token, other);
    }
}
