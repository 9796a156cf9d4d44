package understudy.engine.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.kvcache.eviction.EvictionPolicy;

/**
 * What must hold after every step of the roseinfer loop: random settings, few different prompts, tight memory, aborts. 16
 * seeds of 1,000 steps each.
 */
final class RoseinferInvariantsTest {
    private static final int STEPS = 1_000;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    void lawsHoldAfterEveryStep(int seed) {
        var random = new Random(seed);
        var engine = engine(random);
        var unfinished = new ArrayList<Long>();
        for (int step = 0; step < STEPS; step++) {
            if (random.nextInt(2) == 0 && engine.planner().load().numUnfinished() < 30) {
                unfinished.add(add(engine, random, step));
            }
            if (random.nextInt(15) == 0 && !unfinished.isEmpty()) {
                engine.abort(unfinished.get(random.nextInt(unfinished.size())));
            }
            check(engine, engine.plan(), random.nextInt(20) == 0 ? unfinished : List.of());
        }

        for (int i = 0; engine.planner().load().numUnfinished() > 0; i++) {
            assertThat(i).as("everything ends").isLessThan(20_000);
            check(engine, engine.plan(), List.of());
        }
        assertThat(engine.memory().usage()).as("nobody holds a block").isZero();
    }

    private static RoseinferFixture engine(Random random) {
        var engine = new RoseinferFixture();
        engine.maxBatchSize = 1 + random.nextInt(8);
        engine.prefill = random.nextBoolean() ? PrefillMode.SERIAL : PrefillMode.BATCHED;
        engine.caches = random.nextInt(5) > 0;
        engine.dedups = random.nextBoolean();
        engine.evictionPolicy = pick(random, EvictionPolicy.values());
        engine.numBlocks = 15 + random.nextInt(30);
        engine.maxModelLen = (engine.numBlocks - 2) * 4;
        return engine;
    }

    /** Five prompts of any length, so that equal ones meet all the time. */
    private static long add(RoseinferFixture engine, Random random, long id) {
        int which = random.nextInt(5);
        int length = 1 + (which * 7) % (engine.maxModelLen / 2);
        int[] prompt = IntStream.range(100 * which, 100 * which + length).toArray();
        engine.add(id, prompt, 1 + random.nextInt(engine.maxModelLen - length));
        return id;
    }

    /** Applies a plan; {@code aborted} are given up while it runs. */
    private static void check(RoseinferFixture engine, StepPlan plan, List<Long> aborted) {
        boolean isDecode = plan.size() > 0 && plan.request(0).numOutputTokens() > 0;
        var computed = new HashSet<List<Integer>>();
        int numForwards = 0;
        for (int i = 0; i < plan.size(); i++) {
            if (plan.numScheduledTokens(i) > 0) {
                numForwards++;
                computed.add(prompt(plan.request(i)));
            }
        }
        assertThat(plan.isEmpty())
                .as("work conservation")
                .isEqualTo(engine.planner().load().numUnfinished() == 0);
        assertThat(numForwards).isLessThanOrEqualTo(engine.maxBatchSize);
        if (!isDecode && engine.prefill == PrefillMode.SERIAL) {
            assertThat(numForwards).isLessThanOrEqualTo(1);
        }
        if (!isDecode && engine.dedups && engine.caches) {
            assertThat(computed).as("every prompt once").hasSize(numForwards);
        }
        aborted.forEach(engine::abort);
        engine.update(plan);
        assertThat(engine.memory().audit().isConserved())
                .as("%s", engine.memory().audit())
                .isTrue();
    }

    private static <T> T pick(Random random, T[] values) {
        return values[random.nextInt(values.length)];
    }

    private static List<Integer> prompt(EngineRequest request) {
        var tokens = request.request().prompt().tokens();
        return IntStream.range(0, tokens.length()).mapToObj(tokens::tokenAt).toList();
    }
}
