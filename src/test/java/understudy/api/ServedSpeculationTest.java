package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A server whose device accepts all of 3 drafts: each step but the prompt's brings 4 tokens. */
final class ServedSpeculationTest {
    private static final String COMPLETION = """
            {"prompt": "Speculate.", "max_tokens": 10, "ignore_eos": true, "logprobs": 1, "stream": true}
            """;

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private ServerFixture start() {
        server.moreSettings = """
                engine.speculative { method = mtp, num-speculative-tokens = 3, synthetic-acceptance-length = 4 }
                """;
        return server.start();
    }

    @Test
    void tokensOfAStep_areOneEvent() {
        var stream = start().post("/v1/completions", COMPLETION);

        // 1 + 4 + 4 + 1: the last step is cut at the tenth token, and its event says so.
        assertThat(stream.isDone()).isTrue();
        assertThat(stream.events())
                .extracting(event -> event.at("/choices/0/logprobs/tokens").size())
                .containsExactly(1, 4, 4, 1);
        assertThat(stream.events().get(3).at("/choices/0/finish_reason").asText())
                .isEqualTo("length");
    }

    @Test
    void drafts_areCounted() {
        start().post("/v1/completions", COMPLETION);

        // Three verifications of 3 drafts each; the two drafts behind the end of the answer count as accepted.
        server.awaitMetric("vllm:spec_decode_num_drafts_total", "", count -> count == 3);
        assertThat(server.metric("vllm:spec_decode_num_draft_tokens_total", "")).isEqualTo(9);
        assertThat(server.metric("vllm:spec_decode_num_accepted_tokens_total", ""))
                .isEqualTo(9);
        for (int position = 0; position < 3; position++) {
            String label = "position=\"" + position + "\"";
            assertThat(server.metric("vllm:spec_decode_num_accepted_tokens_per_pos_total", label))
                    .isEqualTo(3);
        }
        assertThat(server.metric("vllm:generation_tokens_total", "")).isEqualTo(10);
        // Three gaps, between four events.
        assertThat(server.metric("vllm:inter_token_latency_seconds_count", "")).isEqualTo(3);
    }

    @Test
    void withoutSpeculation_thereAreNoSuchSeries() {
        server.start();

        assertThat(server.get("/metrics").text()).doesNotContain("spec_decode");
    }
}
