package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.vllm.queue.SchedulingPolicy;

/** Four requests run and fill 12 blocks; the next token of request 2 needs one more. */
final class PreemptionVictimTest {
    private final EngineFixture engine = new EngineFixture();

    @BeforeEach
    void tenBlocks() {
        engine.numBlocks = 13;
    }

    @ParameterizedTest
    @CsvSource({
        // Priorities are 1, 3, 0, 3; of two equal ones the later arrival gives way.
        "LEAST_URGENT, 3",
        "LAST_ADMITTED, 3",
        "FIRST_ADMITTED, 0",
        // Request 3 came a step later, so that its answer is the shortest.
        "FEWEST_OUTPUTS, 3"
    })
    void victim_isChosenByThePolicy(PreemptionVictim victim, long expected) {
        assertThat(victimOf(victim)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"PRIORITY, 1", "FCFS, 2"})
    void auto_isWhatVllmDoes(SchedulingPolicy policy, long expected) {
        engine.policy = policy;
        engine.numBlocks = 10;
        add(0, 40, 1);
        add(1, 40, 3);
        add(2, 48, 0);
        // 3 + 3 + 3 blocks are all 9; request 2 needs a fourth with its first token.
        engine.step();

        assertThat(EngineFixture.ids(engine.plan().preempted())).containsExactly(expected);
    }

    private long victimOf(PreemptionVictim victim) {
        engine.victim = victim;
        add(0, 40, 1);
        add(1, 40, 3);
        add(2, 47, 0);
        engine.step();
        add(3, 40, 3);
        // 3 blocks each are all 12: 42, 42, 49 would be the tokens of the third step, and 49 are 4 blocks.
        engine.step();
        return EngineFixture.ids(engine.plan().preempted()).get(0);
    }

    private void add(long id, int numTokens, int priority) {
        engine.add(id, numTokens, 16, priority);
    }
}
