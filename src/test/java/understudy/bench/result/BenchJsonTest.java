package understudy.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.report.ServiceLevels;
import understudy.workload.RampUp;
import understudy.workload.RequestRate;
import understudy.workload.Traffic;

final class BenchJsonTest {

    /** The keys of vllm bench serve --save-result --save-detailed with a limit on concurrency, in its order. */
    @Test
    void keys_areThoseOfVllm_thenOurs() throws IOException {
        assertThat(json(ResultFixture.result(), true).fieldNames())
                .toIterable()
                .startsWith(
                        "date",
                        "endpoint_type",
                        "backend",
                        "label",
                        "model_id",
                        "tokenizer_id",
                        "num_prompts",
                        "version",
                        "request_rate",
                        "burstiness",
                        "max_concurrency",
                        "duration",
                        "completed",
                        "failed",
                        "total_input_tokens",
                        "total_output_tokens",
                        "request_throughput",
                        "request_goodput",
                        "output_throughput",
                        "total_token_throughput",
                        "input_lens",
                        "output_lens",
                        "ttfts",
                        "itls",
                        "latencies",
                        "start_times",
                        "queue_times",
                        "generated_texts",
                        "errors",
                        "max_output_tokens_per_s",
                        "max_concurrent_requests",
                        "rtfx",
                        "mean_ttft_ms",
                        "median_ttft_ms",
                        "std_ttft_ms",
                        "p99_ttft_ms",
                        "mean_tpot_ms")
                .contains("p99_e2el_including_client_queue_ms", "client_late", "mean_schedule_lag_ms");
    }

    @Test
    void lists_haveAnEntryForEachRequest_andNothingForWhatWasNotAnswered() throws IOException {
        var json = json(ResultFixture.result(), true);

        assertThat(json.get("output_lens")).hasToString("[3,5,0,0]");
        assertThat(json.get("ttfts")).hasToString("[0.1,0.1,0.0,0.1]");
        assertThat(json.get("itls")).hasToString("[[0.05,0.05],[0.05,0.05,0.05],[],[]]");
        assertThat(json.get("latencies")).hasToString("[0.2,0.25,0.0,0.0]");
        assertThat(json.get("start_times")).hasToString("[0.0,0.21,0.205,0.3]");
        assertThat(json.get("queue_times")).hasToString("[0.0,0.1,0.0,0.0]");
        assertThat(json.get("errors")).hasToString("[\"\",\"\",\"HTTP 503: busy\",\"given up by the client\"]");
        assertThat(json.get("error_counts")).hasToString("{\"HTTP 503: busy\":1}");
    }

    @Test
    void withoutDetails_twoListsStay_asInVllm() throws IOException {
        var json = json(ResultFixture.result(), false);

        assertThat(json.has("latencies") && json.has("queue_times")).isTrue();
        assertThat(List.of("input_lens", "ttfts", "itls", "start_times", "errors", "request_ids"))
                .noneMatch(json::has);
    }

    /** From 1 to 3 per second over four requests: 1, 1.67, 2.33, 3. They were wanted at 0, 0.1, 0.2 and 0.3 s. */
    @Test
    void rampUp_saysWhenTheRatePassedWholeNumbers() throws IOException {
        var traffic = new Traffic(RequestRate.of(new RampUp(false, 1, 3, 4)), 1, 0, false);
        var result = ResultFixture.result(traffic, ServiceLevels.NONE);
        var json = json(result, false);

        assertThat(json.get("ramp_up_strategy").textValue()).isEqualTo("linear");
        assertThat(json.get("rps_change_events"))
                .extracting(event -> event.get("rps").intValue())
                .containsExactly(1, 2, 3);
        assertThat(json.get("rps_change_events").get(1).get("timestamp").textValue())
                .endsWith("00.200");
        assertThat(BenchFigures.fileName(result.setup(), "x")).startsWith("x-ramp-up-linear-1qps-3qps-m-");
    }

    @Test
    void whatIsInfiniteOrMissing_isAsInVllm() throws IOException {
        var traffic = new Traffic(RequestRate.constant(Double.POSITIVE_INFINITY), Double.POSITIVE_INFINITY, 0, false);
        var result = ResultFixture.result(traffic, ServiceLevels.NONE);
        var json = json(result, false);

        assertThat(json.get("request_rate").textValue()).isEqualTo("inf");
        assertThat(json.get("max_concurrency").isNull()).isTrue();
        assertThat(json.get("request_goodput").isNull()).isTrue();
        assertThat(json.has("mean_client_queue_time_ms")).isFalse();
        assertThat(BenchFigures.fileName(result.setup(), null)).matches("openai-infqps-m-\\d{8}-\\d{6}\\.json");
        assertThat(BenchFigures.fileName(ResultFixture.result().setup(), null))
                .startsWith("openai-10.0qps-concurrency2-m-");
    }

    /** Lags of 0, 10, 5 and 0 ms are within 20 ms; one that is sent 21 ms late is not. */
    @Test
    void lateClient_isFlagged() {
        var result = ResultFixture.result();
        var late = new BenchRequest.SendTimes(0, 0, 21_000_000, 21_000_000, 21_000_000);
        var first = result.requests().get(0);
        var lateOne = BenchRequestBuilder.builder()
                .id(9)
                .end(first.end())
                .times(late)
                .chunkNanos(first.chunkNanos())
                .inputTokens(1)
                .outputTokens(1)
                .text("")
                .error("")
                .build();

        assertThat(result.isClientLate()).isFalse();
        assertThat(new BenchResult(result.setup(), List.of(lateOne), 1, false).isClientLate())
                .isTrue();
    }

    private static JsonNode json(BenchResult result, boolean isDetailed) throws IOException {
        return new ObjectMapper()
                .readTree(BenchFigures.of(
                                result,
                                new BenchFigures.Options(null, Map.of("version", "7"), isDetailed, ResultFixture.ALL))
                        .json());
    }
}
