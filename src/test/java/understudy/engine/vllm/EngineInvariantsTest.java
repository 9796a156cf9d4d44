package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.conform.DirectEngine;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.StepPlan;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.ContentConfigBuilder;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.kvcache.hybrid.HybridConfig;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.index.PrefixIndex;

/**
 * What must hold after every step, whatever happens: random settings, random requests with shared prefixes, tight memory,
 * aborts, resets with and without running requests. 24 seeds of 1,000 steps each, and 16 with KV cache groups.
 */
final class EngineInvariantsTest {
    private static final int STEPS = 1_000;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
    void lawsHoldAfterEveryStep(int seed) {
        check(new RandomRun(seed, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void lawsHoldAfterEveryStep_withGroups(int seed) {
        check(new RandomRun(seed, true));
    }

    private static void check(RandomRun run) {
        for (int step = 0; step < STEPS; step++) {
            run.disturb();
            run.step();
            run.checkMemory();
        }
        run.finish();
    }

    /** An engine with random settings, and a random hand that disturbs it. */
    private static final class RandomRun {
        private final Random random;
        private final SchedulerConfig config;
        private final BlockCacheSpec memory;
        private final StepPlanner planner;
        private final KvCache kvCache;
        private final DirectEngine engine;
        private final int numBlocks;
        private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();
        private final List<Long> ids = new ArrayList<>();

        /** The hashes of blocks that were stored and not removed, as events tell; of groups, those of all of them. */
        private final LongList stored = new LongArrayList();

        /** The same as a consumer counts, who does not count copies. */
        private final LongSet storedOnce = new LongOpenHashSet();

        private final PrefixIndex index = new PrefixIndex(1);
        private long nextId;
        private long now;

        RandomRun(int seed, boolean hasGroups) {
            random = new Random(seed);
            int blockSize = 1 + random.nextInt(8);
            numBlocks = 20 + random.nextInt(40);
            int maxNumSeqs = 1 + random.nextInt(10);
            boolean caches = random.nextInt(4) > 0;
            boolean chunks = random.nextInt(4) > 0;
            int maxModelLen = (numBlocks - 1) * blockSize;
            boolean shares = random.nextInt(4) > 0;
            int budget = chunks ? maxNumSeqs + random.nextInt(60) : maxModelLen + maxNumSeqs;
            // Without a whole reservation, those who throw out the first in line can go on doing so for ever.
            var victim = pick(PreemptionVictim.values());
            config = SchedulerConfig.VLLM
                    .with()
                    .maxNumSeqs(maxNumSeqs)
                    .maxNumBatchedTokens(budget)
                    .longPrefills(LongPrefillCap.of(chunks && random.nextBoolean() ? 1 + random.nextInt(20) : 0))
                    .enableChunkedPrefill(chunks)
                    .reserveFullSequence(random.nextInt(4) > 0 || victim == PreemptionVictim.FIRST_ADMITTED)
                    .policy(pick(SchedulingPolicy.values()))
                    .preemptionVictim(victim)
                    .asyncScheduling(random.nextBoolean())
                    .decodeCohortMinSeqs(random.nextInt(4))
                    .prefillScheduleInterval(1 + random.nextInt(3))
                    .build();
            var blocks = KvBlocks.of(new Xxh3BlockHasher(blockSize), numBlocks)
                    .withEnablePrefixCaching(caches)
                    .withMaxModelLen(maxModelLen)
                    .withWatermarkBlocks(random.nextInt(3));
            var plain = ContentConfigBuilder.builder()
                    .blocks(blocks)
                    .freeBlocks(new FreeBlocks(pick(EvictionPolicy.values()), pick(FreeOrder.values())))
                    .promotesFullBlocks(random.nextInt(3) == 0)
                    .sharesWithinStep(shares)
                    .fullHit(pick(FullHit.values()))
                    .cachesGeneratedBlocks(random.nextInt(3) > 0)
                    .build();
            memory = hasGroups ? withGroups(plain) : plain;
            planner = new StepPlanner(config, memory);
            kvCache = memory.create();
            engine = new DirectEngine(planner, kvCache);
        }

        /** Groups with blocks of one size, and sequences of which one fits into an empty memory. */
        private HybridConfig withGroups(ContentConfig plain) {
            var list = new ArrayList<KvGroup>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                var kind = pick(KvGroup.Kind.values());
                list.add(new KvGroup(kind, plain.blockSize(), kind.hasSpan() ? 1 + random.nextInt(60) : 0));
            }
            int interval = random.nextInt(3) - 1;
            int budget = config.maxNumBatchedTokens();
            int threshold = config.longPrefills().threshold();
            int maxChunk = threshold > 0 ? Math.min(threshold, budget) : budget;
            var groups = new KvGroups(list, interval, config.maxStepsInFlight() * budget, maxChunk);
            var blocks = plain.blocks()
                    .withMaxModelLen(Math.max(
                            2, Math.min(plain.maxModelLen(), groups.maxTokens(numBlocks - 1, plain.maxModelLen()))));
            return new HybridConfig(blocks, plain.freeBlocks(), plain.sharesWithinStep(), false, groups);
        }

        void disturb() {
            if (random.nextInt(3) == 0 && planner.requests().numUnfinished() < 40) {
                add();
            }
            if (random.nextInt(12) == 0 && !ids.isEmpty()) {
                engine.abort(ids.get(random.nextInt(ids.size())));
            }
            if (random.nextInt(60) == 0) {
                boolean resetsRunning = random.nextBoolean();
                boolean isDone = engine.resetPrefixCache(resetsRunning);
                assertThat(isDone || !resetsRunning)
                        .as("nothing holds a block after a reset")
                        .isTrue();
            }
        }

        void step() {
            var plan = engine.plan(++now);
            checkPlan(plan);
            inFlight.add(plan);
            if (inFlight.size() == config.maxStepsInFlight()) {
                engine.update(inFlight.remove(), ++now);
            }
        }

        void checkMemory() {
            var audit = kvCache.audit();
            assertThat(audit.isConserved()).as("seed's step %d: %s", now, audit).isTrue();
            applyEvents();
            if (memory instanceof HybridConfig) {
                assertThat(audit.numHashed()).as("stored minus removed").isEqualTo(stored.size());
            } else {
                assertThat(kvCache.blockHashes())
                        .as("stored and not removed")
                        .containsExactlyInAnyOrder(stored.toLongArray());
                assertThat(index.size()).isEqualTo(storedOnce.size());
            }
        }

        /** Lets everything end; then all memory must be free. */
        void finish() {
            for (int i = 0; planner.requests().numUnfinished() > 0; i++) {
                assertThat(i).as("everything ends").isLessThan(20_000);
                step();
            }
            inFlight.forEach(plan -> engine.update(plan, ++now));
            assertThat(kvCache.usage()).isZero();
            assertThat(kvCache.audit().isConserved()).isTrue();
        }

        private void checkPlan(StepPlan plan) {
            assertThat(plan.totalScheduledTokens()).isLessThanOrEqualTo(config.maxNumBatchedTokens());
            assertThat(EngineFixture.scheduled(plan).values().stream()
                            .mapToInt(Integer::intValue)
                            .sum())
                    .isEqualTo(plan.totalScheduledTokens());
            assertThat(planner.requests().numRunning()).isLessThanOrEqualTo(config.maxNumSeqs());
            if (!plan.preempted().isEmpty()) {
                assertThat(plan.admitted()).isEmpty();
                assertThat(plan.resumed()).isEmpty();
            }
            checkTables();
        }

        /** Every running request holds exactly the blocks for what it has computed. */
        private void checkTables() {
            var handles = new IntArrayList();
            for (int i = 0; i < planner.requests().numRunning(); i++) {
                handles.add(planner.requests().running(i).handle());
            }
            var tables = kvCache.snapshot(handles).blockTables();
            if (memory instanceof HybridConfig) {
                return;
            }
            for (int i = 0; i < tables.size(); i++) {
                int computed = planner.requests().running(i).numComputedTokens();
                assertThat(tables.get(i).size()).isEqualTo((computed + memory.blockSize() - 1) / memory.blockSize());
            }
        }

        private void applyEvents() {
            var events = kvCache.drainEvents();
            index.apply(0, events);
            for (var event : events) {
                if (event instanceof KvEvent.Stored added) {
                    stored.addAll(added.blockHashes());
                    storedOnce.addAll(added.blockHashes());
                } else if (event instanceof KvEvent.Removed removed) {
                    removed.blockHashes().forEach(stored::rem);
                    storedOnce.removeAll(removed.blockHashes());
                } else {
                    stored.clear();
                    storedOnce.clear();
                }
            }
        }

        /** Memory may read of an answer what was sampled, and no more. */
        private int outputToken(long id, int index) {
            var request = planner.requests().find(id);
            assertThat(request == null || index < request.numOutputTokens()).isTrue();
            return 50_000 + index;
        }

        private void add() {
            int maxLength = memory.maxModelLen() - 1;
            int group = random.nextInt(3);
            int length = 1 + random.nextInt(maxLength);
            int shared = random.nextInt(length + 1);
            long id = nextId++;
            int[] prompt = IntStream.range(0, length)
                    .map(i -> i < shared ? 1_000 * group + i : (int) (100_000 + 1_000 * id + i))
                    .toArray();
            int maxTokens = 1 + random.nextInt(Math.max(1, memory.maxModelLen() - length));
            var output = new OutputPlan(
                    index -> outputToken(id, index),
                    random.nextInt(4) == 0 ? 1 + random.nextInt(20) : OutputPlan.ENDLESS);
            planner.add(
                    Request.of(id, now, new Prompt(new TokenIds(prompt)), maxTokens, output)
                            .withName("r" + id)
                            .withPriority(random.nextInt(3)),
                    now);
            ids.add(id);
        }

        private <T> T pick(T[] values) {
            return values[random.nextInt(values.length)];
        }
    }
}
