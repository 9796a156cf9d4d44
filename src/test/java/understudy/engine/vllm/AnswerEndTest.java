package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import it.unimi.dsi.fastutil.ints.IntSets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.engine.FinishReason;
import understudy.engine.OutputPlan;
import understudy.engine.RequestBuilder;
import understudy.engine.SamplingParams;

/** When an answer is over. */
final class AnswerEndTest {
    private final EngineFixture engine = new EngineFixture();

    @Test
    void endOfSequence_stopsBeforeTheLimit() {
        var request = engine.add(EngineFixture.request(0, EngineFixture.filled(10, 1), 5, 0, 3));

        for (int i = 0; i < 3; i++) {
            engine.step();
        }

        assertThat(request.finishReason()).isEqualTo(FinishReason.STOP);
        assertThat(request.numOutputTokens()).isEqualTo(3);
        assertThat(request.numPeeks()).isZero();
    }

    @Test
    void limits_endARequestByLength() {
        engine.maxModelLen = 12;
        var byItsOwn = engine.add(0, 10, 1, 0);
        var byTheModel = engine.add(1, 10, 2, 0);
        engine.step();
        engine.step();

        assertThat(byItsOwn.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(byTheModel.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(byTheModel.numOutputTokens()).isEqualTo(2);
    }

    @Test
    void minTokens_outlastAnEndOfSequence() {
        var output = new OutputPlan(index -> index, 1);
        var prompt =
                EngineFixture.request(0, EngineFixture.filled(10, 1), 5, 0, 1).prompt();
        var request = engine.add(RequestBuilder.builder()
                .id(0)
                .name("")
                .arrivalNanos(0)
                .prompt(prompt)
                .sampling(new SamplingParams(5, 3, false, IntSets.EMPTY_SET, false))
                .priority(0)
                .tenant("")
                .output(output)
                .build());

        for (int i = 0; i < 5; i++) {
            engine.step();
        }

        assertThat(request.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(request.numOutputTokens()).isEqualTo(5);
    }

    @Test
    void stopTokenAndEndOfSequence_endAnAnswerUnlessItIsToIgnoreThem() {
        // The answer to request 0 is 0, 1, 2, ...; its end of sequence, if any, is the first token.
        assertThat(answer(new SamplingParams(5, 0, false, IntSets.EMPTY_SET, false), 1))
                .isEqualTo(entry(1, FinishReason.STOP));
        assertThat(answer(new SamplingParams(5, 0, true, IntSets.EMPTY_SET, false), 1))
                .isEqualTo(entry(5, FinishReason.LENGTH));
        assertThat(answer(new SamplingParams(5, 0, true, IntSets.singleton(2), false), 1))
                .isEqualTo(entry(3, FinishReason.STOP));
        assertThat(answer(new SamplingParams(5, 4, true, IntSets.singleton(2), false), 1))
                .as("before min_tokens nothing stops it")
                .isEqualTo(entry(5, FinishReason.LENGTH));
    }

    private static Map.Entry<Integer, FinishReason> answer(SamplingParams sampling, int outputLength) {
        var engine = new EngineFixture();
        var request = EngineFixture.request(0, EngineFixture.filled(10, 1), 5, 0, outputLength);
        var added = engine.add(EngineFixture.with(sampling, request));
        while (engine.planner().requests().numUnfinished() > 0) {
            engine.step();
        }
        return entry(added.numOutputTokens(), added.finishReason());
    }
}
