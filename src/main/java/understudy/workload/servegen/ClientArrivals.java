package understudy.workload.servegen;

import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.AhrensDieterMarsagliaTsangGammaSampler;
import org.apache.commons.rng.sampling.distribution.ContinuousSampler;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import understudy.workload.RandomStreams;

/**
 * Arrivals of a client. As in ServeGen, each window is filled by itself: as many requests as its rate stands for, whose
 * gaps are drawn and then scaled to its length. ServeGen draws a gap for each request, so that the last one comes when
 * the window is over and is left out; here there is one gap more. A fraction of a request is drawn, not rounded up.
 *
 * <p>The gaps of a window are drawn twice from the same stream, to know their sum before the first of them, so that none
 * is kept.
 */
final class ClientArrivals {
    private static final int WINDOW_SHIFT = 20;
    private static final double NANOS_PER_SECOND = 1e9;

    private final ServeGenClient client;
    private final RandomStreams streams;
    private int numWindows;
    private int numLeft;
    private ContinuousSampler gaps = () -> 1;
    private double secondsPerUnit;
    private double atSeconds;
    private long endNanos;

    ClientArrivals(ServeGenClient client, RandomStreams streams) {
        this.client = client;
        this.streams = streams;
    }

    ServeGenClient client() {
        return client;
    }

    /** Goes to the next arrival, and returns whether there is one. */
    boolean next() {
        while (numLeft == 0) {
            if (numWindows == client.windows().size()) {
                return false;
            }
            begin(client.windows().get(numWindows++));
        }
        numLeft--;
        atSeconds += gaps.sample() * secondsPerUnit;
        return true;
    }

    /** Returns when it comes, on the clock of the service; before the end of its window, also if no gap is left there. */
    long atNanos() {
        return Math.min(Math.round(atSeconds * NANOS_PER_SECOND), endNanos - 1);
    }

    private void begin(ClientWindow window) {
        long stream = (client.number() << WINDOW_SHIFT) + window.index();
        double expected = window.numRequests() * client.rateScale();
        numLeft = (int) (expected + streams.stream("servegen-counts", stream).nextDouble());
        double sum = 0;
        gaps = gaps(window, streams.stream("servegen-gaps", stream));
        for (int i = 0; i <= numLeft; i++) {
            sum += gaps.sample();
        }
        gaps = gaps(window, streams.stream("servegen-gaps", stream));
        secondsPerUnit = window.durationSeconds() / Math.max(sum, Double.MIN_NORMAL);
        atSeconds = window.startSeconds();
        endNanos = (window.startSeconds() + window.durationSeconds()) * (long) NANOS_PER_SECOND;
    }

    private static ContinuousSampler gaps(ClientWindow window, UniformRandomProvider random) {
        if (!window.isWeibull()) {
            return AhrensDieterMarsagliaTsangGammaSampler.of(random, window.shape(), 1);
        }
        var exponential = ZigguratSampler.Exponential.of(random);
        double power = 1 / window.shape();
        return () -> StrictMath.pow(exponential.sample(), power);
    }
}
