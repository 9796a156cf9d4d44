package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.conform.DirectEngine;
import understudy.engine.EngineRequest;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;
import understudy.engine.StepPlan;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.KvCacheManager;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;
import understudy.prompt.Xxh3BlockHasher;

/** The loop over sequences is the definition: with the cohort, everything that can be seen is the same. */
final class DecodeCohortTest {
    private static final int NUM_SEEDS = 60;
    private static final int NUM_STEPS = 400;
    private static final List<PreemptionVictim> VICTIMS =
            List.of(PreemptionVictim.AUTO, PreemptionVictim.FEWEST_OUTPUTS, PreemptionVictim.FIRST_ADMITTED);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void randomRuns_areTheSameWithTheCohortAndWithout(boolean isAsync) {
        int numWithCohort = 0;
        for (int seed = 0; seed < NUM_SEEDS; seed++) {
            var random = new Random(seed);
            var config = config(random, isAsync);
            var memory = memory(random);
            var one = new Side(config, memory);
            var other = new Side(config.withDecodeCohortMinSeqs(1 + random.nextInt(3)), memory);
            for (int step = 0; step < NUM_STEPS; step++) {
                var act = act(random, step, memory.maxModelLen());
                String expected = one.run(act, step);
                assertThat(other.run(act, step))
                        .as("seed %d, step %d", seed, step)
                        .isEqualTo(expected);
            }
            numWithCohort += other.numWithCohort;
        }
        // Most steps of these runs have requests that decode; fewer than a fifth of all would be a test of little.
        assertThat(numWithCohort).isGreaterThan(NUM_SEEDS * NUM_STEPS / 5);
    }

    private static SchedulerConfig config(Random random, boolean isAsync) {
        int maxNumSeqs = 2 + random.nextInt(20);
        return SchedulerConfig.VLLM
                .with()
                .maxNumSeqs(maxNumSeqs)
                .maxNumBatchedTokens(maxNumSeqs + random.nextInt(60) - random.nextInt(2) * maxNumSeqs / 2)
                .longPrefills(LongPrefillCap.of(random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 0))
                .enableChunkedPrefill(random.nextInt(5) > 0)
                .reserveFullSequence(random.nextBoolean())
                .policy(random.nextBoolean() ? SchedulingPolicy.FCFS : SchedulingPolicy.PRIORITY)
                .preemptionVictim(VICTIMS.get(random.nextInt(VICTIMS.size())))
                .asyncScheduling(isAsync)
                .decodeCohortMinSeqs(0)
                .prefillScheduleInterval(1 + maxNumSeqs % 3)
                .build();
    }

    /** Small enough for preemptions in some runs, and large enough for none in others. */
    private static ContentConfig memory(Random random) {
        int blockSize = 1 + random.nextInt(6);
        int numBlocks = 40 + random.nextInt(400);
        boolean caches = random.nextInt(4) > 0;
        boolean sharesWithinStep = random.nextInt(6) > 0;
        var fullHit = random.nextInt(3) > 0 ? FullHit.RECOMPUTE_LAST_TOKEN : FullHit.DECODE_DIRECTLY;
        boolean cachesGeneratedBlocks = random.nextInt(3) > 0;
        var blocks = KvBlocks.of(new Xxh3BlockHasher(blockSize), numBlocks)
                .withEnablePrefixCaching(caches)
                .withMaxModelLen(20 + random.nextInt((numBlocks - 20) * blockSize));
        return ContentConfig.vllm(blocks)
                .withSharesWithinStep(sharesWithinStep)
                .withFullHit(fullHit)
                .withCachesGeneratedBlocks(cachesGeneratedBlocks);
    }

    /** What happens before a step: requests that come, one that is aborted, or a reset. */
    private record Act(List<Request> added, long aborted, int reset) {}

    private static Act act(Random random, int step, int maxModelLen) {
        var added = new ArrayList<Request>();
        for (int i = random.nextInt(3) == 0 ? random.nextInt(4) : 0; i > 0; i--) {
            added.add(request(random, step * 10L + i, maxModelLen));
        }
        long aborted = random.nextInt(15) == 0 ? step * 10L + 1 - 10L * random.nextInt(30) : -1;
        return new Act(added, aborted, random.nextInt(80));
    }

    private static Request request(Random random, long id, int maxModelLen) {
        int length = 1 + random.nextInt(Math.min(40, maxModelLen - 1));
        int shared = random.nextInt(length + 1);
        int group = random.nextInt(3);
        int[] prompt = IntStream.range(0, length)
                .map(i -> i < shared ? 1_000 * group + i : (int) (100_000 + 100 * id + i))
                .toArray();
        // More than fit into the model, and more tokens at least than at most, are not refused here but by limits
        // before.
        int maxTokens = 1 + random.nextInt(60);
        int minTokens = random.nextInt(3) == 0 ? random.nextInt(maxTokens + 3) : 0;
        IntSet stops = random.nextInt(10) == 0 ? new IntOpenHashSet(new int[] {507}) : IntSet.of();
        var sampling = new SamplingParams(maxTokens, minTokens, random.nextInt(4) == 0, stops, random.nextInt(9) == 0);
        int outputLength = random.nextBoolean() ? 1 + random.nextInt(60) : OutputPlan.ENDLESS;
        var output = new OutputPlan(index -> 500 + index, outputLength);
        var tokens = new Prompt(new TokenIds(prompt));
        return RequestBuilder.builder()
                .id(id)
                .name("r" + id)
                .arrivalNanos(id)
                .prompt(tokens)
                .sampling(sampling)
                .priority(random.nextInt(3))
                .tenant("")
                .output(output)
                .build();
    }

    /** One of the two engines, and what can be seen of it. */
    private static final class Side {
        private final StepPlanner planner;
        private final KvCacheManager memory;
        private final DirectEngine engine;
        private final SchedulerConfig config;
        private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();
        private final StringBuilder seen = new StringBuilder();
        private long nowNanos;
        int numWithCohort;

        Side(SchedulerConfig config, ContentConfig memoryConfig) {
            this.config = config;
            planner = new StepPlanner(config, memoryConfig);
            memory = new KvCacheManager(memoryConfig);
            engine = new DirectEngine(planner, memory);
        }

        String run(Act act, int step) {
            seen.setLength(0);
            act.added.forEach(request -> planner.add(request, nowNanos));
            if (act.aborted >= 0) {
                seen.append("abort ").append(engine.abort(act.aborted));
            }
            if (act.reset == 0) {
                seen.append("reset ").append(engine.resetPrefixCache(step % 2 == 0));
            }
            // Now and then, as at the end of a run, a result comes before the next plan; else one more is in flight.
            if (act.reset % 20 == 1 && !inFlight.isEmpty()) {
                update();
            }
            var plan = engine.plan(++nowNanos);
            numWithCohort += ((VllmPlan) plan).hasCohort() ? 1 : 0;
            write(plan);
            if (!plan.isEmpty()) {
                inFlight.add(plan);
            }
            if (inFlight.size() == config.maxStepsInFlight() || (plan.isEmpty() && !inFlight.isEmpty())) {
                update();
            }
            writeState();
            return seen.toString();
        }

        private void update() {
            nowNanos += 1 + nowNanos % 7;
            var result = engine.update(inFlight.remove(), nowNanos);
            seen.append("\nsampled ").append(result.numSampled());
            result.sampled().forEach(request -> write(request, ""));
            seen.append("\nended ").append(EngineFixture.ids(result.finished()));
            result.finished().forEach(request -> seen.append(request.finishReason()));
            seen.append("\ngaps ").append(result.gapNanos()).append(result.gapCounts());
            var settlement = result.settlement().build();
            for (int i = 0; i < settlement.size(); i++) {
                seen.append(" settle ").append(settlement.handle(i)).append(' ');
                seen.append(settlement.numTokensToCache(i)).append(' ').append(settlement.numTokens(i));
            }
        }

        private void write(StepPlan plan) {
            seen.append("\nplan ").append(EngineFixture.scheduled(plan));
            seen.append(EngineFixture.ids(plan.preempted())).append(EngineFixture.ids(plan.admitted()));
            seen.append(EngineFixture.ids(plan.resumed())).append(plan.totalScheduledTokens());
            var shape = plan.shape();
            seen.append("\nbatch ").append(shape.numDecodes()).append(' ').append(shape.decodeKvTokens());
            seen.append(' ').append(shape.numSampled()).append(' ').append(shape.numPrefillTokens());
            for (int window = 1; window < 256; window *= 2) {
                seen.append(' ').append(shape.decodeKvTokensWithin(window));
            }
        }

        /** Looks at every other request only, so that some have caught up with the cohort and some have not. */
        private void writeState() {
            var handles = new IntArrayList();
            for (int i = 0; i < planner.requests().numRunning(); i++) {
                var request = planner.requests().running(i);
                handles.add(request.handle());
                if ((request.id() + nowNanos) % 2 == 0) {
                    write(request, "\n");
                }
            }
            seen.append("\ntables ").append(memory.snapshot(handles)).append(memory.drainEvents());
        }

        private void write(EngineRequest request, String separator) {
            seen.append(separator).append(' ').append(request).append(' ').append(request.numOutputTokens());
            seen.append(' ').append(request.lastTokenNanos()).append(' ').append(request.lastStep());
            seen.append(' ').append(request.numPeeks());
        }
    }
}
