package understudy.conform;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.engine.lora.LoraConfig;
import understudy.engine.speculation.DraftCounts;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.vllm.LongPrefillCap;
import understudy.engine.vllm.PreemptionVictim;
import understudy.engine.vllm.SchedulerConfig;
import understudy.engine.vllm.SchedulerConfigBuilder;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvGroups;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.hybrid.HybridConfig;
import understudy.prompt.CborBlockHasher;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/**
 * Workload, and the decisions of the real vLLM scheduler on it, step for step; or instead the KV events that it has
 * published.
 *
 * @param config the scheduler's and the KV cache's settings
 * @param requests in the order of the recording
 * @param steps one decision per step, from step 0 on; none in a recording of KV events
 * @param end state of the memory when everything had ended; null in a recording of KV events
 * @param kvEvents the KV events of each step, or null in a recording of decisions
 * @param decodeCohortMinSeqs how to replay it, see {@link SchedulerConfig}; no part of the recording
 */
public record RecordedRun(
        Config config,
        List<RecordedRequest> requests,
        List<StepDecision> steps,
        @Nullable End end,
        @Nullable List<List<Object>> kvEvents,
        int decodeCohortMinSeqs) {

    /** Returns how many steps are to be replayed. */
    public int numSteps() {
        return kvEvents == null ? steps.size() : kvEvents.size();
    }

    /** Returns the same recording, to be replayed with another {@link SchedulerConfig#decodeCohortMinSeqs}. */
    public RecordedRun withDecodeCohortMinSeqs(int minSeqs) {
        return new RecordedRun(config, requests, steps, end, kvEvents, minSeqs);
    }

    /**
     * Settings, as vLLM names them.
     *
     * @param maxLoras most different adapters in one step, or 0 for no limit
     * @param countsResumedAsNew whether requests admitted again count as new (vLLM {@code v2_model_runner})
     * @param notReplayed names of those settings that cannot be replayed; then the steps of the recording are not read
     */
    @RecordBuilder
    public record Config(
            int numBlocks,
            int blockSize,
            int maxNumBatchedTokens,
            int maxNumSeqs,
            int maxModelLen,
            int longPrefillTokenThreshold,
            boolean isPriority,
            boolean enablePrefixCaching,
            boolean enableChunkedPrefill,
            boolean asyncScheduling,
            @Nullable RecordedConnector connector,
            SpeculationConfig speculation,
            int maxLoras,
            int pipelineParallelSize,
            boolean countsResumedAsNew,
            @Nullable KvGroups groups,
            List<String> notReplayed) {}

    /**
     * A request.
     *
     * @param prompt token ids, at least one
     * @param arrivalStep step before which it is added
     * @param arrivalTime vLLM's {@code arrival_time}, in seconds: orders requests of one priority
     * @param abortStep step in which it is aborted, or -1
     * @param transfer transfer of its KV from or to the outside of the replica, or null for none
     * @param accept how many drafts are accepted at most, in turn
     * @param drafts how many drafts it gets, in turn; empty for always as many as may be
     * @param loraName its adapter, or empty
     */
    @RecordBuilder
    public record RecordedRequest(
            String id,
            IntList prompt,
            int maxTokens,
            int priority,
            int arrivalStep,
            double arrivalTime,
            int abortStep,
            RecordedConnector.@Nullable Transfer transfer,
            IntList accept,
            IntList drafts,
            String loraName) {}

    /** The value that the KV cache is told a sampled token has: the recording's driver counts from here. */
    private static final int FIRST_OUTPUT_TOKEN = 50_000;

    /** Returns the indexes of the requests in the order in which they are added. */
    public List<Integer> additionOrder() {
        return IntStream.range(0, requests.size())
                .boxed()
                .sorted(Comparator.comparingInt(i -> requests.get(i).arrivalStep()))
                .toList();
    }

    /**
     * Returns a request as an engine gets it. Its arrival is a number that is ordered as the recorded times are, ties
     * included, and means nothing else.
     */
    public Request request(int index) {
        var recorded = requests.get(index);
        return RequestBuilder.builder()
                .id(index)
                .name(recorded.id())
                .arrivalNanos(Double.doubleToLongBits(recorded.arrivalTime()))
                .prompt(new Prompt(new TokenIds(recorded.prompt().toIntArray()), recorded.loraName(), ""))
                .sampling(SamplingParams.ofMaxTokens(recorded.maxTokens()))
                .priority(recorded.priority())
                .tenant("")
                .output(new OutputPlan(output -> FIRST_OUTPUT_TOKEN + output, OutputPlan.ENDLESS))
                .build();
    }

    /** Returns the recorded scheduler's settings. */
    public SchedulerConfig schedulerConfig() {
        return SchedulerConfigBuilder.builder()
                .maxNumSeqs(config.maxNumSeqs())
                .maxNumBatchedTokens(config.maxNumBatchedTokens())
                .longPrefills(LongPrefillCap.of(config.longPrefillTokenThreshold()))
                .enableChunkedPrefill(config.enableChunkedPrefill())
                .reserveFullSequence(true)
                .policy(config.isPriority() ? SchedulingPolicy.PRIORITY : SchedulingPolicy.FCFS)
                .preemptionVictim(PreemptionVictim.AUTO)
                .asyncScheduling(config.asyncScheduling())
                .decodeCohortMinSeqs(decodeCohortMinSeqs)
                .prefillScheduleInterval(1)
                .loras(LoraConfig.ofSlots(config.maxLoras()))
                .pipelineParallelSize(config.pipelineParallelSize())
                .speculation(config.speculation())
                .countsResumedAsNew(config.countsResumedAsNew())
                .knownBugs(Set.of())
                .build();
    }

    /** Returns the recorded KV cache's settings. */
    public BlockCacheSpec kvCacheConfig() {
        var groups = config.groups();
        int hashBlockSize = groups == null ? config.blockSize() : groups.hashBlockSize();
        var hasher = kvEvents == null
                ? new Xxh3BlockHasher(hashBlockSize)
                : new CborBlockHasher(CborBlockHasher.Algorithm.SHA256_CBOR, hashBlockSize, "0");
        var blocks = KvBlocks.of(hasher, config.numBlocks())
                .withEnablePrefixCaching(config.enablePrefixCaching())
                .withMaxModelLen(config.maxModelLen());
        boolean usesEagle = config.speculation().usesEagle();
        if (groups != null) {
            return new HybridConfig(blocks, FreeBlocks.VLLM, true, usesEagle, groups);
        }
        var connector = config.connector();
        return ContentConfig.vllm(blocks)
                .withDropsLastHit(usesEagle)
                .withConnector(
                        connector == null
                                ? null
                                : connector.spec(schedulerConfig().maxStepsInFlight(), usesEagle));
    }

    /**
     * The end of a run.
     *
     * @param freeOrder block ids in the order in which they would be given out
     * @param queries tokens looked up at first admissions, and so on as in vLLM's {@code PrefixCacheStats}
     */
    @RecordBuilder
    public record End(
            IntList freeOrder,
            long numPreemptions,
            long queries,
            long hits,
            long preemptedQueries,
            long preemptedHits,
            long externalQueries,
            long externalHits,
            long externalPreemptedQueries,
            long externalPreemptedHits,
            DraftCounts drafts) {

        /**
         * Returns the end of a replay.
         *
         * @param stats lookups in the replica's own cache
         * @param external lookups elsewhere
         */
        static End of(
                IntList freeOrder,
                long numPreemptions,
                PrefixCacheStats stats,
                PrefixCacheStats external,
                DraftCounts drafts) {
            return new End(
                    freeOrder,
                    numPreemptions,
                    stats.queries(),
                    stats.hits(),
                    stats.preemptedQueries(),
                    stats.preemptedHits(),
                    external.queries(),
                    external.hits(),
                    external.preemptedQueries(),
                    external.preemptedHits(),
                    drafts);
        }
    }
}
