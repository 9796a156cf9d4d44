package understudy.bench;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.bench.result.BenchRequest;
import understudy.fidelity.probe.Probe;
import understudy.fidelity.probe.ProbeRequest;
import understudy.fidelity.probe.ProbeWorkload;
import understudy.fidelity.probe.ProbedAnswer;
import understudy.fidelity.probe.ProbedServer;
import understudy.runtime.Stopwatch;
import understudy.workload.RandomStreams;

/** Sends probes to a server over HTTP, for a limited time. */
public final class ServerProbes implements ProbedServer {
    private static final Bench.Options ONE_ATTEMPT = new Bench.Options(false, 0, 0, 1);

    private final BenchTarget target;
    private final double maxSeconds;
    private final Bench.Progress progress;
    private final Stopwatch watch = Stopwatch.start();
    private int numEnded;
    private volatile boolean isStopped;
    private volatile @Nullable Bench bench;

    /**
     * Creates a client.
     *
     * @param maxSeconds wall time for all probes
     * @param progress is told every now and then how many requests have ended
     */
    public ServerProbes(BenchTarget target, double maxSeconds, Bench.Progress progress) {
        this.target = target;
        this.maxSeconds = maxSeconds;
        this.progress = progress;
    }

    /**
     * Sends the requests of a probe.
     *
     * @throws BenchUnreachableException if one of them fails, or its answer does not show its tokens one by one
     */
    @Override
    public List<ProbedAnswer> answers(Probe probe) throws InterruptedException {
        if (isOver()) {
            return List.of();
        }
        var running = new Bench(target, ONE_ATTEMPT, new RandomStreams(0));
        bench = running;
        var records = running.run(new ProbeWorkload(probe), (numOfProbe, seconds) -> {
            progress.on(numEnded + numOfProbe, watch.seconds());
            if (isOver()) {
                running.stop();
            }
        });
        numEnded += records.size();
        var requests = probe.requests();
        for (var each : records) {
            if (each.end() == BenchRequest.End.FAILED) {
                throw new BenchUnreachableException(target.uri() + ": a request with a prompt of "
                        + requests.get((int) each.id()).prompt().length() + " words failed: " + each.error());
            }
        }
        boolean isComplete =
                records.size() == requests.size() && records.stream().allMatch(BenchRequest::isCompleted);
        return isComplete
                ? IntStream.range(0, records.size())
                        .mapToObj(i -> answer(requests.get(i), records.get(i)))
                        .toList()
                : List.of();
    }

    private boolean isOver() {
        return isStopped || watch.seconds() > maxSeconds;
    }

    /** Some servers end with a chunk that has no token. */
    private ProbedAnswer answer(ProbeRequest request, BenchRequest seen) {
        int numTokens = seen.outputTokens();
        var chunks = seen.chunkNanos();
        if (numTokens != request.maxTokens() || chunks.size() < numTokens) {
            throw new BenchUnreachableException(target.uri() + ": " + numTokens + " tokens in " + chunks.size()
                    + " chunks, where " + request.maxTokens()
                    + " tokens were wanted; steps show only if answers go on to"
                    + " max_tokens, and each chunk has one token");
        }
        double[] nanos =
                IntStream.range(0, numTokens).mapToDouble(chunks::getLong).toArray();
        return new ProbedAnswer(request, seen.times().sentNanos(), seen.inputTokens(), DoubleList.of(nanos));
    }

    /** Ends the probes as soon as possible; may be called by any thread. */
    public void stop() {
        isStopped = true;
        var running = bench;
        if (running != null) {
            running.stop();
        }
    }

    public boolean isStopped() {
        return isStopped;
    }

    /** Returns the wall time so far. */
    public double seconds() {
        return watch.seconds();
    }
}
