package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.conform.DirectEngine;
import understudy.engine.EngineRequest;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.StepPlan;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvCache;
import understudy.kvcache.session.GlobalPrefixLimits;
import understudy.kvcache.session.SessionConfig;
import understudy.kvcache.session.SessionKvCache;
import understudy.kvcache.session.SessionMode;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.SyntheticTokens;
import understudy.prompt.Xxh3BlockHasher;

/**
 * What must hold after every step when prefixes are found by session, whatever happens: tight memory, preemptions, aborts,
 * turns that overlap, sliding windows, shared prefixes. 12 seeds of 600 steps for each way of counting blocks.
 */
final class SessionInvariantsTest {
    private static final int STEPS = 600;
    private static final int SEEDS = 12;

    @ParameterizedTest
    @EnumSource(
            value = SessionMode.class,
            names = {"SIMPLIFIED", "DETAILED"})
    void blocksAreConservedAfterEveryStep(SessionMode mode) {
        int numPreemptions = 0;
        int numHits = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            var run = new RandomRun(mode, seed);
            run.go();
            numPreemptions += run.numPreemptions;
            numHits += run.numHits;
        }
        assertThat(numPreemptions).as("memory was tight").isGreaterThan(20);
        assertThat(numHits).as("sessions went on").isGreaterThan(100);
    }

    /** An engine with random settings, random conversations, and a random hand that disturbs them. */
    private static final class RandomRun {
        private final Random random;
        private final int blockSize;
        private final RequestLimits limits;
        private final StepPlanner planner;
        private final KvCache memory;
        private final DirectEngine engine;
        private final SchedulerConfig config;
        private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();
        private final List<EngineRequest> known = new ArrayList<>();
        private final List<SegmentedTokens> histories = new ArrayList<>();
        private final List<Integer> turns = new ArrayList<>();
        private long nextId;
        private long now;
        private int numPreemptions;
        private int numHits;

        RandomRun(SessionMode mode, int seed) {
            random = new Random(seed);
            blockSize = 1 + random.nextInt(8);
            int numBlocks = 30 + random.nextInt(40);
            int maxModelLen = (numBlocks - 1) * blockSize;
            config = SchedulerConfig.VLLM
                    .with()
                    .maxNumSeqs(4)
                    .maxNumBatchedTokens(40)
                    .reserveFullSequence(random.nextBoolean())
                    .preemptionVictim(PreemptionVictim.LAST_ADMITTED)
                    .asyncScheduling(random.nextBoolean())
                    .decodeCohortMinSeqs(random.nextInt(3))
                    .prefillScheduleInterval(1 + random.nextInt(3))
                    .build();
            limits = new RequestLimits(maxModelLen, maxModelLen, ContextOverflow.TRUNCATE_OLDEST, blockSize);
            var blocks = KvBlocks.of(new Xxh3BlockHasher(blockSize), numBlocks)
                    .withMaxModelLen(maxModelLen)
                    .withWatermarkBlocks(random.nextInt(3));
            var fullHit = random.nextBoolean() ? FullHit.DECODE_DIRECTLY : FullHit.RECOMPUTE_LAST_TOKEN;
            var prefixes = new GlobalPrefixLimits(2 * blockSize, 1 + random.nextInt(2), 8L * blockSize);
            var kvCache = new SessionConfig(blocks, true, mode, prefixes, fullHit);
            planner = new StepPlanner(config, kvCache);
            memory = new SessionKvCache(kvCache);
            engine = new DirectEngine(planner, memory);
        }

        void go() {
            for (int i = 0; i < STEPS; i++) {
                disturb();
                step();
            }
            for (int i = 0; planner.requests().numUnfinished() > 0; i++) {
                assertThat(i).as("everything ends").isLessThan(20_000);
                step();
            }
            inFlight.forEach(plan -> engine.update(plan, ++now));
            assertThat(memory.usage()).isZero();
            assertThat(memory.audit().isConserved()).isTrue();
            assertThat(engine.resetPrefixCache(false)).isTrue();
            assertThat(memory.audit().numHashed())
                    .as("blocks of cached prefixes")
                    .isZero();
        }

        private void disturb() {
            if (random.nextInt(3) == 0 && planner.requests().numUnfinished() < 20) {
                add();
            }
            if (random.nextInt(30) == 0 && !known.isEmpty()) {
                engine.abort(known.get(random.nextInt(known.size())).request().id());
            }
        }

        private void step() {
            var plan = engine.plan(++now);
            numPreemptions += plan.preempted().size();
            inFlight.add(plan);
            if (inFlight.size() == config.maxStepsInFlight()) {
                for (var ended : engine.update(inFlight.remove(), ++now).finished()) {
                    onEnded(ended);
                }
            }
            var audit = memory.audit();
            assertThat(audit.isConserved()).as("step %d: %s", now, audit).isTrue();
        }

        private void onEnded(EngineRequest ended) {
            assertThat(ended.numCachedTokens()).isLessThanOrEqualTo(ended.numPromptTokens());
            numHits += ended.prefixCacheEvents().isHit() ? 1 : 0;
            int session = (int) ended.request().prompt().turn().sessionId();
            histories.set(
                    session,
                    histories.get(session).append(answer(ended.request().id()), ended.numOutputTokens()));
        }

        /** Opens a conversation, or goes on with one, even if its last turn has not ended. */
        private void add() {
            boolean isNew = histories.isEmpty() || random.nextInt(4) == 0;
            int session = isNew ? histories.size() : random.nextInt(histories.size());
            if (isNew) {
                histories.add(SegmentedTokens.EMPTY.append(-random.nextInt(3), random.nextInt(4 * blockSize)));
                turns.add(0);
            }
            long id = nextId++;
            var prompt = histories.get(session).append(1_000_000 + id, 1 + random.nextInt(4 * blockSize));
            histories.set(session, prompt);
            turns.set(session, turns.get(session) + 1);
            var output = new OutputPlan(new SyntheticTokens(answer(id)), OutputPlan.ENDLESS);
            var turn = SessionTurn.of(session, turns.get(session));
            int maxTokens = 1 + random.nextInt(6 * blockSize);
            known.add(planner.add(limits.fit(Request.of(id, now, new Prompt(prompt, turn), maxTokens, output)), now));
        }

        private static long answer(long id) {
            return 2_000_000 + id;
        }
    }
}
