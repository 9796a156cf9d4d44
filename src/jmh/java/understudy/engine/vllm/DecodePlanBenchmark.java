package understudy.engine.vllm;

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
import understudy.conform.DirectEngine;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.Xxh3BlockHasher;

/**
 * What a decode-only step costs per running sequence, with 2,000 of them in 100,000 blocks: planning it, and applying its
 * result.
 *
 * <p>It starts from 400 tokens per sequence and goes on for 256 steps, 16 blocks more for each, then anew. One step in 16
 * takes a block for each of them; the figures are means over all.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(DecodePlanBenchmark.SEQUENCES)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class DecodePlanBenchmark {
    static final int SEQUENCES = 2_000;
    private static final int STEPS = 256;
    private static final int PROMPT_TOKENS = 400;
    private static final int NUM_BLOCKS = 100_000;
    private static final int MAX_MODEL_LEN = 4_096;

    /** Whether blocks of answers are cached, too. */
    @Param({"true", "false"})
    private boolean enablePrefixCaching;

    private DirectEngine engine;
    private int stepsLeft;

    private StepPlan fullMemory() {
        var kvCache = ContentConfig.vllm(KvBlocks.of(new Xxh3BlockHasher(16), NUM_BLOCKS)
                .withEnablePrefixCaching(enablePrefixCaching)
                .withMaxModelLen(MAX_MODEL_LEN));
        var scheduler =
                SchedulerConfig.VLLM.withMaxNumSeqs(SEQUENCES).withMaxNumBatchedTokens(SEQUENCES * PROMPT_TOKENS);
        var planner = new StepPlanner(scheduler, kvCache);
        engine = new DirectEngine(planner, new KvCacheManager(kvCache));
        for (int i = 0; i < SEQUENCES; i++) {
            var prompt = new Prompt(SegmentedTokens.EMPTY.append(i, PROMPT_TOKENS));
            var output = new OutputPlan(new SyntheticTokens(-1 - i), OutputPlan.ENDLESS);
            planner.add(Request.of(i, 0, prompt, MAX_MODEL_LEN - PROMPT_TOKENS, output), 0);
        }
        stepsLeft = STEPS;
        return engine.plan(0);
    }

    /** Between plans: the result of the last one, which is not timed. Long enough a step for a time stamp around each. */
    @State(Scope.Benchmark)
    public static class BeforePlan {
        private StepPlan plan;

        @Setup(Level.Invocation)
        public void update(DecodePlanBenchmark benchmark) {
            plan = benchmark.stepsLeft-- > 0 ? plan : benchmark.fullMemory();
            benchmark.engine.update(plan, 0);
        }
    }

    /** Plans a step. */
    @Benchmark
    public StepPlan plan(BeforePlan before) {
        before.plan = engine.plan(0);
        return before.plan;
    }

    /** Between results: the next plan, which is not timed. */
    @State(Scope.Benchmark)
    public static class BeforeUpdate {
        private StepPlan plan;

        @Setup(Level.Invocation)
        public void plan(DecodePlanBenchmark benchmark) {
            if (benchmark.stepsLeft-- <= 0) {
                var prefill = benchmark.fullMemory();
                benchmark.engine.update(prefill, 0);
            }
            plan = benchmark.engine.plan(0);
        }
    }

    /** Applies a step's result. */
    @Benchmark
    public StepResult update(BeforeUpdate before) {
        return engine.update(before.plan, 0);
    }
}
