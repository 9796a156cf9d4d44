package understudy.faults;

import org.apache.commons.rng.UniformRandomProvider;

/**
 * Die for the requests of one replica, or of all: what goes wrong with the next one. Every roll draws as often, so that
 * one rate leaves the others alone.
 */
public final class RequestDie {
    private final UniformRandomProvider random;
    private double errorRate;
    private int rateStatus;
    private int numErrorsLeft;
    private int sequenceStatus;
    private double cutRate;
    private int cutAfterTokens;
    private boolean isReset;
    private long delayNanos;

    RequestDie(UniformRandomProvider random) {
        this.random = random;
    }

    void failAtRate(double rate, int status) {
        errorRate = rate;
        rateStatus = status;
    }

    void failNext(int count, int status) {
        numErrorsLeft = count;
        sequenceStatus = status;
    }

    void cutAtRate(double rate, int afterTokens, boolean resets) {
        cutRate = rate;
        cutAfterTokens = afterTokens;
        isReset = resets;
    }

    void delayBy(long nanos) {
        delayNanos = nanos;
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
