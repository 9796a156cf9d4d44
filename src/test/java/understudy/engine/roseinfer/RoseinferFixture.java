package understudy.engine.roseinfer;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import understudy.engine.EngineRequest;
import understudy.engine.OutputPlan;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.engine.vllm.EngineFixture;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.content.PromptConfig;
import understudy.kvcache.content.PromptKvCache;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.Xxh3BlockHasher;

/** The worker loop of roseinfer with its memory, driven by hand; blocks have 4 tokens. */
final class RoseinferFixture {
    int maxBatchSize = 8;
    PrefillMode prefill = PrefillMode.BATCHED;
    boolean dedups = true;
    boolean caches = true;
    EvictionPolicy evictionPolicy = EvictionPolicy.LRU;
    int numBlocks = 1_000;
    int maxModelLen = 1_000;

    private RoseinferPlanner planner;
    private KvCache memory;
    private long nowNanos;

    /** What one plan computed and sampled, by request id. */
    record Step(List<Long> computed, int numTokens, List<Long> sampled) {}

    RoseinferPlanner planner() {
        if (planner == null) {
            var kvCache = new PromptConfig(
                    KvBlocks.of(new Xxh3BlockHasher(4), numBlocks)
                            .withEnablePrefixCaching(caches)
                            .withMaxModelLen(maxModelLen),
                    new FreeBlocks(evictionPolicy, FreeOrder.UNHASHED_FIRST),
                    dedups);
            planner = new RoseinferPlanner(new RoseinferConfig(maxBatchSize, prefill), kvCache);
            memory = new PromptKvCache(kvCache);
        }
        return planner;
    }

    KvCache memory() {
        planner();
        return memory;
    }

    EngineRequest add(long id, int[] prompt, int maxTokens) {
        return planner().add(EngineFixture.request(id, prompt, maxTokens, 0, OutputPlan.ENDLESS), ++nowNanos);
    }

    /** Adds a request whose prompt nobody else has. */
    EngineRequest add(long id, int numPromptTokens, int maxTokens) {
        int first = 1_000 * (int) (id + 1);
        return add(id, IntStream.range(first, first + numPromptTokens).toArray(), maxTokens);
    }

    StepPlan plan() {
        return planner().plan(memory, ++nowNanos);
    }

    StepResult update(StepPlan plan) {
        var result = planner.update(plan, ++nowNanos);
        var settlement = result.toSettle();
        if (settlement != null) {
            memory.settle(settlement);
        }
        return result;
    }

    Step step() {
        var plan = plan();
        var computed = new ArrayList<Long>();
        for (int i = 0; i < plan.size(); i++) {
            if (plan.numScheduledTokens(i) > 0) {
                computed.add(plan.request(i).request().id());
            }
        }
        int numTokens = plan.totalScheduledTokens();
        return new Step(computed, numTokens, EngineFixture.ids(update(plan).sampled()));
    }

    boolean abort(long id) {
        var aborted = planner().abort(id);
        if (aborted != null) {
            memory.free(aborted.handle(), aborted.lastStep());
        }
        return aborted != null;
    }
}
