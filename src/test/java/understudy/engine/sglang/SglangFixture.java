package understudy.engine.sglang;

import it.unimi.dsi.fastutil.ints.IntSets;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import understudy.engine.OutputPlan;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.kvcache.radix.RadixConfig;
import understudy.kvcache.radix.RadixEvictionPolicy;
import understudy.kvcache.radix.RadixMemory;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

/** Small scheduler with its memory, pages of one token. */
final class SglangFixture {
    final SglangConfig config;
    final SglangScheduler engine;
    final RadixMemory memory;
    private int numRequests;

    SglangFixture(
            SchedulePolicy policy, int maxRunning, int maxTotalTokens, boolean disableRadixCache, boolean requeues) {
        this(policy, maxRunning, maxTotalTokens, disableRadixCache, requeues, 0);
    }

    SglangFixture(
            SchedulePolicy policy,
            int maxRunning,
            int maxTotalTokens,
            boolean disableRadixCache,
            boolean requeues,
            int chunkedPrefillSize) {
        this(policy, maxRunning, maxTotalTokens, disableRadixCache, requeues, chunkedPrefillSize, builder -> builder);
    }

    /** Creates a scheduler without priorities, with a cache. */
    static SglangFixture of(int maxRunning, int chunkedPrefillSize, UnaryOperator<SglangConfigBuilder> settings) {
        return new SglangFixture(
                SchedulePolicy.FCFS,
                maxRunning,
                100,
                false,
                false,
                chunkedPrefillSize,
                builder -> settings.apply(builder.priorities(SglangConfig.Priorities.NONE)));
    }

    private SglangFixture(
            SchedulePolicy policy,
            int maxRunning,
            int maxTotalTokens,
            boolean disableRadixCache,
            boolean requeues,
            int chunkedPrefillSize,
            UnaryOperator<SglangConfigBuilder> settings) {
        var memoryConfig = new RadixConfig(
                1,
                maxTotalTokens,
                disableRadixCache,
                chunkedPrefillSize > 0,
                RadixEvictionPolicy.LRU,
                0,
                false,
                null,
                null);
        var builder = SglangConfigBuilder.builder()
                .schedulePolicy(policy)
                .chunkedPrefillSize(chunkedPrefillSize)
                .maxPrefillTokens(16_384)
                .maxRunningRequests(maxRunning)
                .maxModelLen(65_536)
                .scheduleConservativeness(1.0)
                .priorities(new SglangConfig.Priorities(true, false, true, 0))
                .estimate(SglangConfig.Estimate.DEFAULT)
                .queue(SglangConfig.Queue.UNLIMITED)
                .requeuesRefusedPreemption(requeues)
                .windowEvictionInterval(128)
                .memory(memoryConfig);
        config = settings.apply(builder).build();
        engine = SglangScheduler.create(config);
        memory = RadixMemory.create(memoryConfig);
    }

    /** Adds a request whose prompt is so many tokens from a first one on. */
    SglangRequest add(String name, int firstToken, int numTokens, int maxTokens, long priority, boolean ignoresEos) {
        return add(name, "", firstToken, numTokens, maxTokens, priority, ignoresEos);
    }

    /** Adds a request with a prompt of four tokens from a first one on. */
    SglangRequest add(String name, int firstToken, int maxTokens) {
        return add(name, "", firstToken, 4, maxTokens, 0, false);
    }

    /** Adds such a request with a LoRA adapter. */
    SglangRequest addWithAdapter(String name, String adapter, int firstToken, int maxTokens) {
        return add(name, adapter, firstToken, 4, maxTokens, 0, false);
    }

    private SglangRequest add(
            String name,
            String adapter,
            int firstToken,
            int numTokens,
            int maxTokens,
            long priority,
            boolean ignoresEos) {
        var prompt = IntStream.range(firstToken, firstToken + numTokens).toArray();
        var request = RequestBuilder.builder()
                .id(numRequests)
                .name(name)
                .arrivalNanos(0)
                .prompt(new Prompt(new TokenIds(prompt), adapter, ""))
                .sampling(new SamplingParams(maxTokens, 0, ignoresEos, IntSets.EMPTY_SET, false))
                .priority(0)
                .tenant("")
                .output(new OutputPlan(index -> 50_000 + index, OutputPlan.ENDLESS))
                .build();
        var added = new SglangRequest(config, request, new SglangRequest.Options(priority, "", null), numRequests++, 0);
        engine.add(added);
        return added;
    }

    /** Plans a turn, and applies its result. */
    SglangPlan turn() {
        engine.begin();
        for (var ask = engine.next(); ask != null; ask = engine.next()) {
            var answer = memory.answer(ask);
            if (ask.awaitsAnswer()) {
                engine.answer(answer);
            }
        }
        var plan = engine.plan();
        var batch = plan.batch();
        if (batch != null) {
            memory.answer(engine.update(batch, new int[0], (sampled, numSampled) -> {}));
        }
        return plan;
    }

    static List<String> names(List<SglangRequest> requests) {
        return requests.stream().map(SglangRequest::name).toList();
    }
}
