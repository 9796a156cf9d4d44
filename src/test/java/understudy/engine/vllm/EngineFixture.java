package understudy.engine.vllm;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import understudy.conform.DirectEngine;
import understudy.engine.EngineRequest;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.SamplingParams;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.lora.LoraConfig;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** A scheduler with its KV cache, driven by hand; settings as in vLLM's own scheduler test unless changed. */
public final class EngineFixture {
    public int maxNumSeqs = 16;
    int maxNumBatchedTokens = 8192;
    int maxModelLen = 100_000;
    LongPrefillCap longPrefills = LongPrefillCap.NONE;
    int maxNumActiveSeqs;
    boolean countsResumedAsNew;
    Set<KnownBug> knownBugs = Set.of();
    boolean chunks = true;
    boolean isAsync;
    public boolean caches;
    boolean sharesWithinStep = true;
    public SchedulingPolicy policy = SchedulingPolicy.FCFS;
    PreemptionVictim victim = PreemptionVictim.AUTO;
    int numBlocks = 10_000;
    int prefillScheduleInterval = 1;
    int maxLoras;
    int pipelineParallelSize = 1;
    SpeculationConfig speculation = SpeculationConfig.NONE;

    private StepPlanner planner;
    private KvCacheManager kvCache;
    private DirectEngine engine;
    private long nowNanos;

    StepPlanner planner() {
        if (planner == null) {
            var blocks = KvBlocks.of(new Xxh3BlockHasher(16), numBlocks)
                    .withEnablePrefixCaching(caches)
                    .withMaxModelLen(maxModelLen);
            var memory = ContentConfig.vllm(blocks)
                    .withSharesWithinStep(sharesWithinStep)
                    .withDropsLastHit(speculation.usesEagle());
            var scheduler = SchedulerConfig.VLLM
                    .with()
                    .maxNumSeqs(maxNumSeqs)
                    .maxNumBatchedTokens(maxNumBatchedTokens)
                    .longPrefills(longPrefills)
                    .maxNumActiveSeqs(maxNumActiveSeqs)
                    .countsResumedAsNew(countsResumedAsNew)
                    .knownBugs(knownBugs)
                    .enableChunkedPrefill(chunks)
                    .policy(policy)
                    .preemptionVictim(victim)
                    .asyncScheduling(isAsync)
                    .decodeCohortMinSeqs(1)
                    .prefillScheduleInterval(prefillScheduleInterval)
                    .loras(LoraConfig.ofSlots(maxLoras))
                    .pipelineParallelSize(pipelineParallelSize)
                    .speculation(speculation)
                    .build();
            planner = new StepPlanner(scheduler, memory);
            kvCache = new KvCacheManager(memory);
            engine = new DirectEngine(planner, kvCache);
        }
        return planner;
    }

    KvCacheManager kvCache() {
        planner();
        return kvCache;
    }

    boolean resetPrefixCache(boolean resetsRunning) {
        return engine.resetPrefixCache(resetsRunning);
    }

    /** Adds a request of {@code numTokens} equal tokens, different from those of other requests. */
    public EngineRequest add(long id, int numTokens) {
        return add(id, numTokens, 16, 0);
    }

    public EngineRequest add(long id, int numTokens, int maxTokens, int priority) {
        return add(request(id, filled(numTokens, (int) id), maxTokens, priority, OutputPlan.ENDLESS));
    }

    public EngineRequest add(Request request) {
        return planner().add(request, nowNanos);
    }

    public static Request request(long id, int[] prompt, int maxTokens, int priority, int outputLength) {
        var output = new OutputPlan(index -> 1_000_000 * (int) id + index, outputLength);
        return Request.of(id, id, new Prompt(new TokenIds(prompt)), maxTokens, output)
                .withName("r" + id)
                .withPriority(priority);
    }

    /** Returns the same request with other sampling parameters. */
    static Request with(SamplingParams sampling, Request request) {
        return request.withSampling(sampling);
    }

    static int[] filled(int count, int token) {
        return IntStream.range(0, count).map(i -> token).toArray();
    }

    /** Plans a step; {@link #update} applies it. */
    StepPlan plan() {
        planner();
        return engine.plan(++nowNanos);
    }

    StepResult update(StepPlan plan) {
        return engine.update(plan, ++nowNanos);
    }

    /** Applies a step of which each request's drafts are accepted up to a number, and replaced by others. */
    StepResult update(StepPlan plan, int numAccepted) {
        var accepted = new IntArrayList();
        var proposed = new IntArrayList();
        for (int i = 0; i < plan.size(); i++) {
            accepted.add(Math.min(numAccepted, plan.numDraftsToVerify(i)));
            proposed.add(speculation.numSpeculativeTokens());
        }
        return engine.update(plan, ++nowNanos, new DraftOutput(accepted, proposed));
    }

    /** Plans a step, applies it at once, and returns the scheduled tokens by request id. */
    public Map<Long, Integer> step() {
        var plan = plan();
        var scheduled = scheduled(plan);
        update(plan);
        return scheduled;
    }

    static Map<Long, Integer> scheduled(StepPlan plan) {
        var scheduled = new LinkedHashMap<Long, Integer>();
        for (int i = 0; i < plan.size(); i++) {
            scheduled.put(plan.request(i).request().id(), plan.numScheduledTokens(i));
        }
        return scheduled;
    }

    public static List<Long> ids(List<EngineRequest> requests) {
        return requests.stream().map(r -> r.request().id()).toList();
    }

    List<Long> runningIds() {
        var ids = new ArrayList<Long>();
        for (int i = 0; i < planner().requests().numRunning(); i++) {
            ids.add(planner().requests().running(i).request().id());
        }
        return ids;
    }
}
