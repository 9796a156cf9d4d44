package understudy.chaos.fleet;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the replicas of a scenario are.
 *
 * @param engines kind of engine of each replica: {@code vllm} or {@code sglang}
 * @param settings further settings of the emulated cluster, in HOCON
 */
public record FleetSettings(List<String> engines, String settings) {
    /** Model that all replicas serve. */
    public static final String MODEL = "chaos-model";

    /** Adapter that all replicas serve, unless a fault takes it away. */
    public static final String ADAPTER = "chaos-adapter";

    /** A virtual GPU that is fast, so that a scenario takes a few seconds: some hundred tokens per second and request. */
    private static final String FAST = """
            clock.speed = 1
            server {
              ports-per-replica = true
              replica-port = 0
              answers = echo
              sglang { enable-metrics = true, enable-cache-report = true }
            }
            latency {
              model = linear
              linear { per-step = 3ms, per-token = 10us, per-decode-seq = 0us, per-kv-token = 0ns }
              api-delay = 1ms
              api-delay-per-prompt-token = 0us
            }
            engine.max-model-len = 16384
            kv-cache.kv-events { enable-kv-cache-events = true, endpoint = "tcp://127.0.0.1:*" }
            """;

    public FleetSettings {
        engines = List.copyOf(engines);
    }

    /** Returns the settings of the emulated cluster, in HOCON. */
    public String hocon() {
        String groups = IntStream.range(0, engines.size())
                .mapToObj(i -> "{ name = \"r" + i + "\", replicas = 1, engine.kind = " + engines.get(i) + " }")
                .collect(Collectors.joining(", ", "cluster.groups = [", "]\n"));
        return FAST + "server.served-model-name = \"" + MODEL + "," + ADAPTER + "\"\n" + groups + settings;
    }
}
