package understudy.chaos.fleet;

import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What the replicas of a scenario are.
 *
 * @param engines kind of each replica, one of {@link #KINDS}
 * @param settings further settings of the emulated cluster, in HOCON
 */
public record FleetSettings(List<String> engines, String settings) {
    private static final String VLLM = "vllm";

    /** Two engines of vLLM behind one address, as behind llm-d's sidecar: one computes prompts, the other one answers. */
    private static final String PAIR = "vllm-pd";

    /** Kinds of replicas. */
    public static final List<String> KINDS = List.of(VLLM, "sglang", PAIR);

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

    /** Returns whether a replica is a pair of engines. */
    public boolean isPair(int replica) {
        return engines.get(replica).equals(PAIR);
    }

    /**
     * Returns the index that the engine which computes the prompts of a pair has in the cluster; empty for other replicas.
     * The engine that answers has the index of its replica.
     */
    public OptionalInt prefillEngine(int replica) {
        int numBefore = (int) IntStream.range(0, replica).filter(this::isPair).count();
        return isPair(replica) ? OptionalInt.of(engines.size() + numBefore) : OptionalInt.empty();
    }

    /** Returns the settings of the emulated cluster, in HOCON. */
    public String hocon() {
        var answering =
                IntStream.range(0, engines.size()).mapToObj(i -> group("r" + i, isPair(i) ? VLLM : engines.get(i)));
        var prefilling = IntStream.range(0, engines.size()).filter(this::isPair).mapToObj(i -> group("p" + i, VLLM));
        String groups = Stream.concat(answering, prefilling).collect(Collectors.joining(", ", "[", "]\n"));
        String connector = engines.contains(PAIR) ? "kv-cache.transfer.kv-connector = nixl\n" : "";
        return FAST + "server.served-model-name = \"" + MODEL + "," + ADAPTER + "\"\ncluster.groups = " + groups
                + connector + settings;
    }

    private static String group(String name, String kind) {
        return "{ name = " + name + ", replicas = 1, engine.kind = " + kind + " }";
    }
}
