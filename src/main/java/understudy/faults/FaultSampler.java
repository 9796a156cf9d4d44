package understudy.faults;

import java.util.HashMap;
import java.util.Map;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.workload.RandomStreams;

/** Draws the fault of each request, from the faults of all requests and of its replica. */
public final class FaultSampler {
    private static final int ALL_REPLICAS = -1;

    private final RandomStreams streams;
    private final Map<Integer, Die> dice = new HashMap<>();

    /** Creates dice without any fault. */
    public FaultSampler(RandomStreams streams) {
        this.streams = streams;
    }

    /** Lets a fault take effect for the requests from now on. */
    public void set(Fault.OfRequests fault) {
        dice.computeIfAbsent(fault.replica().orElse(ALL_REPLICAS), this::newDie).set(fault);
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

    private Die newDie(int replica) {
        return new Die(streams.stream("faults", replica));
    }

    /**
     * The faults of one replica, or those of all. Every roll draws as often, so that one rate leaves the others alone.
     */
    private static final class Die {
        private final UniformRandomProvider random;
        private double errorRate;
        private int rateStatus;
        private int numErrorsLeft;
        private int sequenceStatus;
        private double cutRate;
        private int cutAfterTokens;
        private boolean isReset;
        private long delayNanos;

        Die(UniformRandomProvider random) {
            this.random = random;
        }

        void set(Fault.OfRequests fault) {
            if (fault instanceof Fault.ErrorRate error) {
                errorRate = error.rate();
                rateStatus = error.status();
            } else if (fault instanceof Fault.ErrorSequence sequence) {
                numErrorsLeft = sequence.count();
                sequenceStatus = sequence.status();
            } else if (fault instanceof Fault.CutStreams cut) {
                cutRate = cut.rate();
                cutAfterTokens = cut.afterTokens();
                isReset = cut.isReset();
            } else if (fault instanceof Fault.LatencySpike spike) {
                delayNanos = spike.delayNanos();
            }
        }

        RequestFault roll() {
            int status = random.nextDouble() < errorRate ? rateStatus : 0;
            boolean isCut = random.nextDouble() < cutRate;
            if (numErrorsLeft > 0) {
                numErrorsLeft--;
                status = sequenceStatus;
            }
            return new RequestFault(status, isCut ? cutAfterTokens : 0, delayNanos, isCut && isReset);
        }
    }
}
