package understudy.faults;

import java.util.HashMap;
import java.util.Map;
import understudy.workload.RandomStreams;

/** Draws the fault of each request, from the faults of all requests and of its replica. */
public final class FaultSampler {
    private static final int ALL_REPLICAS = -1;

    private final RandomStreams streams;
    private final Map<Integer, RequestDie> dice = new HashMap<>();

    /** Creates dice without any fault. */
    public FaultSampler(RandomStreams streams) {
        this.streams = streams;
    }

    /** Lets a fault take effect for the requests from now on. */
    public void set(Fault.OfRequests fault) {
        fault.on(dice.computeIfAbsent(fault.replica().orElse(ALL_REPLICAS), this::newDie));
    }

    /** Ends the faults of one replica. */
    public void clear(int replica) {
        dice.remove(replica);
    }

    /** Decides for the next request, which goes to this replica. */
    public RequestFault next(int replica) {
        if (dice.isEmpty()) {
            return RequestFault.NONE;
        }
        return roll(ALL_REPLICAS).plus(roll(replica));
    }

    private RequestFault roll(int replica) {
        var die = dice.get(replica);
        return die == null ? RequestFault.NONE : die.roll();
    }

    private RequestDie newDie(int replica) {
        return new RequestDie(streams.stream("faults", replica));
    }
}
