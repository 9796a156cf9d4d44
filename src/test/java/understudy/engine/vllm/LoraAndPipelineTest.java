package understudy.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.Test;
import understudy.engine.OutputPlan;
import understudy.latency.BatchShape;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

/** Limits on adapters in a step, and on what may follow while steps are on their way through a pipeline. */
final class LoraAndPipelineTest {
    private final EngineFixture engine = new EngineFixture();

    @Test
    void requestWithOneAdapterMore_isPassedOver_andThoseBehindAreNot() {
        engine.maxLoras = 1;
        add(0, "a");
        add(1, "b");
        add(2, "a");
        add(3, "");

        assertThat(engine.step()).containsOnlyKeys(0L, 2L, 3L);
        assertThat(engine.step()).containsOnlyKeys(0L, 2L, 3L);
    }

    /** Requests 0 and 2 have two tokens: with the third step nothing runs with their adapter. */
    @Test
    void adapterThatIsNoLongerUsed_makesRoom() {
        engine.maxLoras = 1;
        add(0, "a");
        add(1, "b");
        engine.step();
        engine.step();

        assertThat(engine.step()).containsExactly(entry(1L, 10));
    }

    /** Two slots: prompts of 10 tokens with a and with b beside one without; then each request computes one token. */
    @Test
    void step_saysWhichAdaptersItNeeds() {
        engine.maxLoras = 2;
        add(0, "a");
        add(1, "b");
        add(2, "");
        var first = engine.plan();
        engine.update(first);

        assertThat(first.shape().loras()).isEqualTo(new BatchShape.Loras(2, 20, 2, 2));
        assertThat(engine.plan().shape().loras()).isEqualTo(new BatchShape.Loras(2, 2, 0, 0));
    }

    /** Three stages: three steps may be under way, of one request only one for each token. */
    @Test
    void pipelineWithoutAsynchronousScheduling_takesADecodeOnceUntilItsTokenIsKnown() {
        engine.pipelineParallelSize = 3;
        engine.add(0, 10);
        var first = engine.plan();
        engine.add(1, 20);
        var second = engine.plan();

        assertThat(EngineFixture.scheduled(first)).containsExactly(entry(0L, 10));
        assertThat(EngineFixture.scheduled(second)).containsExactly(entry(1L, 20));
        assertThat(engine.plan().isEmpty()).isTrue();
        engine.update(first);
        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 1));
    }

    /** Chunks of a prompt follow each other without waiting: 16, 16 and 8 tokens. */
    @Test
    void pipeline_takesTheNextChunkAtOnce() {
        engine.pipelineParallelSize = 3;
        engine.maxNumBatchedTokens = 16;
        engine.add(0, 40);

        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 16));
        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 16));
        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 8));
    }

    /** Two stages with asynchronous scheduling: scheduled in plan 1, a request is eligible in plan 3. */
    @Test
    void pipelineWithAsynchronousScheduling_spacesDecodes() {
        engine.pipelineParallelSize = 2;
        engine.isAsync = true;
        engine.add(0, 10);

        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 10));
        assertThat(engine.plan().isEmpty()).isTrue();
        assertThat(EngineFixture.scheduled(engine.plan())).containsExactly(entry(0L, 1));
    }

    /**
     * Three stages: request 0, scheduled in step 1, would be eligible in step 4, but ends with its first token. Request 1 has
     * its handle, and computes a chunk in each of steps 2 and 3.
     */
    @Test
    void requestWithTheHandleOfOneThatEnded_isNotHeldBackForIt() {
        engine.pipelineParallelSize = 3;
        engine.isAsync = true;
        engine.maxNumBatchedTokens = 16;
        var ended = engine.add(0, 10, 1, 0);
        engine.step();

        var next = engine.add(1, 40);

        assertThat(next.handle()).isEqualTo(ended.handle());
        assertThat(engine.step()).containsExactly(entry(1L, 16));
        assertThat(engine.step()).containsExactly(entry(1L, 16));
    }

    private void add(long id, String adapter) {
        var request = EngineFixture.request(id, EngineFixture.filled(10, (int) id), 2, 0, OutputPlan.ENDLESS);
        var prompt = new Prompt(new TokenIds(EngineFixture.filled(10, (int) id)), adapter, "");
        engine.add(request.with().id(id).arrivalNanos(id).prompt(prompt).build());
    }
}
