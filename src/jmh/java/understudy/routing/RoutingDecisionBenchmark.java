package understudy.routing;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.kvcache.KvEvent;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.policy.LoadBalance;
import understudy.routing.policy.PrefixAware;
import understudy.workload.RandomStreams;

/**
 * One decision of {@code prefix-aware} on a cached prompt of 10,000 tokens, among replicas with 200,000 blocks each: 320
 * prompts, of which 64 begin with the same 1,024 tokens on every replica. Prompts arrive with their hashes, as requests do
 * that have been hashed before, and no two that follow each other are equal.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = "-Xmx8g")
public class RoutingDecisionBenchmark {
    private static final int PROMPTS_PER_REPLICA = 320;
    private static final int PROMPT_TOKENS = 10_000;
    private static final int PREFIX_TOKENS = 1_024;
    private static final int SHARED_PREFIXES = 64;

    @Param({"16", "256"})
    private int numReplicas;

    private RoutingPolicy policy;
    private final ClusterView view = new ClusterView();
    private final List<Request> requests = new ArrayList<>();
    private int next;

    /** Fills the index as KV events do. */
    @Setup
    public void fill() {
        var hasher = new Xxh3BlockHasher(16);
        policy = PrefixAware.factory(new PrefixAware.Options(0, new LoadBalance(64, 1.5)))
                .create(new RoutingPolicyFactory.Cluster(hasher, numReplicas, PROMPT_TOKENS, new RandomStreams(1)));
        for (int replica = 0; replica < numReplicas; replica++) {
            view.addReplica();
            for (int i = 0; i < PROMPTS_PER_REPLICA; i++) {
                store(replica, i, hasher);
            }
        }
    }

    private void store(int replica, int index, Xxh3BlockHasher hasher) {
        long id = 1_000_000L * (replica + 1) + index;
        long prefix = index < SHARED_PREFIXES ? index : id;
        var tokens = SegmentedTokens.EMPTY.append(prefix, PREFIX_TOKENS).append(-id, PROMPT_TOKENS - PREFIX_TOKENS);
        var prompt = new Prompt(tokens);
        var hashes = new LongArrayList(prompt.blockHashes(hasher));
        policy.onKvEvents(replica, List.of(new KvEvent.Stored(hashes, false, 0, tokens, 0)));
        if (requests.size() < 10_000 && id % 7 == 0) {
            requests.add(Request.of(id, 0, prompt, 10, new OutputPlan(i -> i, 10)));
        }
    }

    @Benchmark
    public int choose() {
        next = next + 1 == requests.size() ? 0 : next + 1;
        return policy.choose(requests.get(next), view);
    }
}
