package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.engine.vllm.queue.SchedulingPolicy;

/** The orders of the waiting queue that vLLM does not have. */
final class SchedulingPolicyTest {
    private final EngineFixture engine = new EngineFixture();

    @Test
    void sjf_admitsTheShortestPromptFirstAndTheEarlierOneAmongEquals() {
        engine.policy = SchedulingPolicy.SJF;
        engine.maxNumSeqs = 3;
        engine.add(0, 40);
        engine.add(1, 10);
        engine.add(2, 20);
        engine.add(3, 10);

        assertThat(engine.step()).containsExactly(entry(1L, 10), entry(3L, 10), entry(2L, 20));
    }

    @Test
    void lpm_admitsTheLongestCachedPrefixFirst() {
        engine.policy = SchedulingPolicy.LPM;
        engine.caches = true;
        engine.maxNumSeqs = 2;
        engine.add(request(0, 96, 0, 1));
        engine.add(request(1, 48, 7_000, 1));
        engine.step();

        // Cached: 96 tokens that begin at 0, and 48 that begin at 7000.
        engine.add(request(2, 64, 90_000, 1));
        engine.add(request(3, 64, 7_000, 1));
        engine.add(request(4, 128, 0, 1));

        // Matches are 0, 48 and 96 tokens: request 4 goes first and computes 128 - 96, then request 3 with 64 - 48.
        assertThat(engine.step()).containsExactly(entry(4L, 32), entry(3L, 16));
        assertThat(engine.step()).containsExactly(entry(2L, 64));
    }

    @Test
    void lpm_holdsBackWhatBeginsLikeAColdRequestBeforeIt() {
        engine.policy = SchedulingPolicy.LPM;
        engine.caches = true;
        engine.maxNumSeqs = 2;
        engine.add(request(0, 64, 0, 1));
        engine.add(request(1, 64, 0, 1));
        engine.add(request(2, 64, 500, 1));

        // Nothing is cached. Request 1 begins with the 32 tokens of request 0, so it goes last.
        assertThat(engine.step()).containsExactly(entry(0L, 64), entry(2L, 64));
        // Then 3 of its 4 blocks are hit; the last one is computed, since a token must be.
        assertThat(engine.step()).containsExactly(entry(1L, 16));
    }

    @Test
    void lpm_isFirstComeFirstServedWithMoreThan128Waiting() {
        engine.policy = SchedulingPolicy.LPM;
        engine.caches = true;
        engine.maxNumSeqs = 1;
        engine.add(request(0, 64, 0, 1));
        engine.step();
        for (int id = 1; id <= 128; id++) {
            engine.add(request(id, 40, 1_000 * id, 1));
        }
        engine.add(request(129, 64, 0, 1));

        // 129 wait: the cached one is not looked for. With 128 it would be; see the next step.
        assertThat(engine.step()).containsOnlyKeys(1L);
        assertThat(engine.step()).containsExactly(entry(129L, 16));
    }

    private static Request request(long id, int numTokens, int firstToken, int maxTokens) {
        var prompt = IntStream.range(firstToken, firstToken + numTokens).toArray();
        return EngineFixture.request(id, prompt, maxTokens, 0, OutputPlan.ENDLESS);
    }
}
