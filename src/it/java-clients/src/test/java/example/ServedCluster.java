package example;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.DoublePredicate;
import understudy.testkit.EmulatedCluster;

/** A served cluster of one replica whose steps last five milliseconds of virtual time, with the model "m". */
final class ServedCluster implements AutoCloseable {
    private static final int MAX_POLLS = 6000;
    private static final String SETTINGS = """
            cluster.replicas = 1
            engine { max-num-seqs = 64, max-num-batched-tokens = 2048, max-model-len = 2048 }
            kv-cache.num-gpu-blocks = 1000
            latency {
              api-delay = 1ms
              model = linear
              linear { per-step = 5ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
            }
            server {
              served-model-name = m
              answer-length { kind = uniform, min = 5, max = 40 }
            }
        """;

    private final EmulatedCluster cluster;

    /** Starts it; {@code speed} is virtual time per wall time. */
    ServedCluster(double speed) {
        this(EmulatedCluster.serve(SETTINGS + "clock.speed = " + speed));
    }

    private ServedCluster(EmulatedCluster cluster) {
        this.cluster = cluster;
    }

    /** Starts it with SGLang's engine, and so in its dialect. */
    static ServedCluster ofSglang() {
        return new ServedCluster(EmulatedCluster.serve(SETTINGS
                + "engine { kind = sglang, sglang.max-total-tokens = 16000 }\nkv-cache.num-gpu-blocks = auto"));
    }

    /** Starts it with the clock held, and with more settings. */
    static ServedCluster paused(String settings) {
        return new ServedCluster(EmulatedCluster.servePaused(SETTINGS + settings));
    }

    void resume() {
        cluster.resume();
    }

    String url() {
        return cluster.uri().toString();
    }

    double metric(String name, String label) {
        return cluster.metric(name, label);
    }

    /** Waits until a series has a value; metrics follow answers at a small distance. */
    void awaitMetric(String name, String label, DoublePredicate isGood) {
        for (int i = 0; !isGood.test(metric(name, label)); i++) {
            if (i == MAX_POLLS) {
                throw new AssertionError(name + "{" + label + "} is " + metric(name, label));
            }
            new CompletableFuture<Void>()
                    .completeOnTimeout(null, 5, TimeUnit.MILLISECONDS)
                    .join();
        }
    }

    @Override
    public void close() {
        cluster.close();
    }
}
