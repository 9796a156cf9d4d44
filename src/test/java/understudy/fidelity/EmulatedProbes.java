package understudy.fidelity;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import understudy.fidelity.probe.Probe;
import understudy.fidelity.probe.ProbeRequest;
import understudy.fidelity.probe.ProbedAnswer;
import understudy.fidelity.probe.ProbedServer;
import understudy.testkit.EmulatedCluster;
import understudy.testkit.EmulatedRequest;

/** Answers probes in virtual time. */
final class EmulatedProbes implements ProbedServer, AutoCloseable {
    private final EmulatedCluster cluster;

    EmulatedProbes(String settings) {
        cluster = EmulatedCluster.startPaused(settings);
    }

    @Override
    public List<ProbedAnswer> answers(Probe probe) {
        long startNanos = cluster.nowNanos();
        var requests = probe.requests();
        var sent = new EmulatedRequest[requests.size()];
        IntStream.range(0, sent.length)
                .boxed()
                .sorted((one, other) -> Long.compare(
                        requests.get(one).atNanos(), requests.get(other).atNanos()))
                .forEach(i -> {
                    long dueNanos = startNanos + requests.get(i).atNanos();
                    cluster.advance(Duration.ofNanos(dueNanos - cluster.nowNanos()));
                    sent[i] = cluster.submit(
                            requests.get(i).prompt(), requests.get(i).maxTokens());
                });
        for (var request : sent) {
            while (!request.isEnded()) {
                cluster.advance(Duration.ofMillis(200));
            }
        }
        return IntStream.range(0, sent.length)
                .mapToObj(i -> answer(requests.get(i), sent[i], startNanos))
                .toList();
    }

    private static ProbedAnswer answer(ProbeRequest request, EmulatedRequest sent, long startNanos) {
        double[] nanos =
                sent.tokenNanos().stream().mapToDouble(at -> at - startNanos).toArray();
        return new ProbedAnswer(request, request.atNanos(), request.prompt().length(), DoubleList.of(nanos));
    }

    @Override
    public void close() {
        cluster.close();
    }
}
