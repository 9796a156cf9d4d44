package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class StepResultTest {

    @Test
    void equalGaps_areCountedTogether() {
        var engine = new EngineFixture();
        for (int id = 0; id < 4; id++) {
            engine.add(id, 10);
        }
        engine.step();

        var result = engine.update(engine.plan());

        // Everybody got a token at 2 and one at 4.
        assertThat(result.gapNanos().toLongArray()).containsExactly(2);
        assertThat(result.gapCounts().toIntArray()).containsExactly(4);
        assertThat(result.sampled()).hasSize(4);
    }

    @Test
    void firstTokens_haveNoGap() {
        var engine = new EngineFixture();
        engine.add(0, 10);

        var result = engine.update(engine.plan());

        assertThat(result.gapNanos().toLongArray()).isEmpty();
        assertThat(result.sampled()).hasSize(1);
        assertThat(result.finished()).isEmpty();
    }
}
