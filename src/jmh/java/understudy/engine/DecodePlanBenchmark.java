package understudy.engine;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.KvCacheManager;
import understudy.kvcache.Prompt;
import understudy.kvcache.SegmentedTokens;
import understudy.kvcache.SyntheticTokens;
import understudy.kvcache.Xxh3BlockHasher;

/**
 * What a decode-only step costs per running sequence, with 2,000 of them in 100,000 blocks: planning it, and planning it
 * together with applying its result.
 *
 * <p>Every batch starts from 400 tokens per sequence and goes on for 256 steps: 16 blocks more for each, in one of 16 steps.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 40)
@Measurement(iterations = 20)
@Fork(1)
public class DecodePlanBenchmark {
    private static final int SEQUENCES = 2_000;
    private static final int STEPS = 256;
    private static final int PROMPT_TOKENS = 400;
    private static final int NUM_BLOCKS = 100_000;
    private static final int MAX_MODEL_LEN = 4_096;

    /** Whether blocks of answers are cached, too. */
    @Param({"true", "false"})
    private boolean enablePrefixCaching;

    private DirectEngine engine;
    private StepPlan[] plans;

    @Setup(Level.Iteration)
    public void fillTheMemory() {
        var hasher = new Xxh3BlockHasher(16);
        var planner = new StepPlanner(
                SchedulerConfig.ofVllm(SEQUENCES, SEQUENCES * PROMPT_TOKENS, MAX_MODEL_LEN, hasher.blockSize()));
        engine = new DirectEngine(
                planner,
                new KvCacheManager(KvCacheConfig.ofVllm(hasher, NUM_BLOCKS, enablePrefixCaching, MAX_MODEL_LEN)));
        for (int i = 0; i < SEQUENCES; i++) {
            var prompt = new Prompt(SegmentedTokens.EMPTY.append(i, PROMPT_TOKENS));
            var output = new OutputScript(new SyntheticTokens(-1 - i), OutputScript.ENDLESS);
            planner.add(Request.of(i, 0, prompt, MAX_MODEL_LEN - PROMPT_TOKENS, output), 0);
        }
        engine.update(engine.plan(0), 0);
        plans = new StepPlan[STEPS];
    }

    /** Steps as an engine makes them: plan, result, plan, result. */
    @Benchmark
    @OperationsPerInvocation(SEQUENCES * STEPS)
    public int planAndUpdate() {
        int numScheduled = 0;
        for (int i = 0; i < STEPS; i++) {
            var plan = engine.plan(i);
            numScheduled += plan.size();
            engine.update(plan, i);
        }
        if (numScheduled != SEQUENCES * STEPS) {
            throw new IllegalStateException(numScheduled + " scheduled");
        }
        return numScheduled;
    }
}
