package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import it.unimi.dsi.fastutil.longs.LongLists;
import java.io.IOException;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixCacheStats;
import understudy.prompt.SessionTurn;

final class RunReportTest {
    private final ReportFixture fixture = new ReportFixture();

    @Test
    void figures_countCompletedRequestsOnly() {
        var report = fixture.report();

        assertThat(report.numCompleted()).isEqualTo(2);
        assertThat(report.numRejected()).isEqualTo(1);
        assertThat(report.totalInputTokens()).isEqualTo(100 + 200);
        assertThat(report.totalOutputTokens()).isEqualTo(4 + 1);
        assertThat(report.requestThroughput()).isCloseTo(0.2, within(1e-12));
        assertThat(report.outputThroughput()).isCloseTo(0.5, within(1e-12));
        assertThat(report.totalTokenThroughput()).isCloseTo(30.5, within(1e-12));
    }

    @Test
    void latencies_areThoseOfTheDefinitions() {
        var report = fixture.report();

        // TTFT 1 s and 3 s; queueing 0.4 s and 0; E2E 4 s and 3 s; TPOT only of request 0, (5 - 2) / 3.
        assertThat(report.ttft().meanNanos()).isEqualTo(2e9);
        assertThat(report.queueTime().meanNanos()).isEqualTo(0.2e9);
        assertThat(report.e2el().maxNanos()).isEqualTo(4e9);
        assertThat(report.tpot().count()).isEqualTo(1);
        assertThat(report.tpot().meanNanos()).isEqualTo(1e9);
        assertThat(report.itl().count()).isEqualTo(3);
        assertThat(report.itl().p99Nanos()).isEqualTo(1e9);
    }

    /** Request 3 comes when all others are over, and is over itself. */
    @Test
    void requestThatTakesNoTime_isNotConcurrent() {
        long[] token = {9 * ReportFixture.SECOND};
        fixture.log.addRequest(ReportFixture.request(3, 0, Outcome.COMPLETED, 9, 9, 9, token));

        assertThat(fixture.report().maxConcurrentRequests()).isEqualTo(2);
    }

    @Test
    void concurrency_isTheMostBetweenArrivalAndLastToken() {
        // Request 0 lives from 1 s to 5 s, request 1 from 3 s to 6 s.
        assertThat(fixture.report().maxConcurrentRequests()).isEqualTo(2);
        assertThat(fixture.report().maxOutputTokensPerSecond()).isEqualTo(1);
    }

    @Test
    void caches_areSummedOverReplicas() {
        var report = fixture.report();

        assertThat(report.prefixCache()).isEqualTo(new PrefixCacheStats(200, 80, 14, 6));
        assertThat(report.prefixCacheHitRate()).isEqualTo(0.4);
        assertThat(report.numPreemptions()).isEqualTo(1);
    }

    @Test
    void digest_tellsRunsApart() {
        var other = new ReportFixture();
        other.log.addStep(0, 7 * ReportFixture.SECOND, 1, 1);

        assertThat(new ReportFixture().report().stepDigest())
                .isEqualTo(fixture.report().stepDigest());
        assertThat(other.report().stepDigest()).isNotEqualTo(fixture.report().stepDigest());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ttft", "tpot", "itl", "e2el"})
    void json_hasVllmsLatencyKeys(String name) throws IOException {
        var json = json();

        for (String statistic : new String[] {"mean", "median", "std", "p90", "p95", "p99"}) {
            assertThat(json.get(statistic + "_" + name + "_ms").isNumber()).isTrue();
        }
    }

    @Test
    void json_hasVllmsTotals() throws IOException {
        var json = json();

        assertThat(json.get("completed").asInt()).isEqualTo(2);
        assertThat(json.get("duration").asDouble()).isEqualTo(10);
        assertThat(json.get("total_input_tokens").asInt()).isEqualTo(300);
        assertThat(json.get("total_output_tokens").asInt()).isEqualTo(5);
        assertThat(json.get("request_throughput").asDouble()).isEqualTo(0.2);
        assertThat(json.get("output_throughput").asDouble()).isEqualTo(0.5);
        assertThat(json.get("mean_ttft_ms").asDouble()).isEqualTo(2_000);
        assertThat(json.get("prefix_cache_queries").asInt()).isEqualTo(200);
        assertThat(json.get("prefix_cache_hits").asInt()).isEqualTo(80);
        assertThat(json.get("num_preemptions").asInt()).isEqualTo(1);
        assertThat(json.get("per_replica")).hasSize(2);
        assertThat(json.get("per_replica").get(1).get("busy_s").asDouble()).isEqualTo(5);
        assertThat(json.get("host").get("speed_up").asDouble()).isEqualTo(20);
    }

    @Test
    void json_listsTokenTimesOfCompletedRequests() throws IOException {
        var json = json();

        assertThat(json.get("request_ids").toString()).isEqualTo("[0,1]");
        assertThat(json.get("output_lens").toString()).isEqualTo("[4,1]");
        assertThat(json.get("ttfts").toString()).isEqualTo("[1.0,3.0]");
        assertThat(json.get("itls").toString()).isEqualTo("[[1.0,1.0,1.0],[]]");
    }

    @Test
    void json_leavesListsOutIfNothingWasKept() {
        assertThat(RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                        .indentedJson())
                .doesNotContain("itls");
    }

    @Test
    void console_looksLikeVllmBench() {
        String text = RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                .text();

        assertThat(text)
                .startsWith("============ Serving Benchmark Result ============\n")
                .contains("Successful requests:                     2         \n")
                .contains("Rejected requests:                       1         \n")
                .contains("Benchmark duration (s):                  10.00     \n")
                .contains("---------------Time to First Token----------------\n")
                .contains("Mean TTFT (ms):                          2000.00   \n")
                .contains("-----Time per Output Token (excl. 1st token)------\n")
                .contains("---------------Inter-token Latency----------------\n")
                .contains("----------------End-to-end Latency----------------\n")
                .contains("Prefix cache hit rate (%):               40.00     \n");
        assertThat(text.lines().filter(line -> line.startsWith("|")))
                .as("header and two replicas")
                .hasSize(3);
        assertThat(text).contains("|       1 |        2 | #################### |");
    }

    @Test
    void console_saysWhenARunWasBrokenOff() {
        fixture.isPartial = true;
        fixture.numUnfinished = 5;

        assertThat(RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                        .text())
                .contains("(partial)")
                .contains("Unfinished requests:                     5");
    }

    @Test
    void prefixCaching_isSummedUpByRequest() throws IOException {
        var json = json().get("prefix_caching");

        // Request 0 is a follow-up turn that finds 48 of 100 tokens, request 1 finds none of 200; request 2 was turned
        // away.
        assertThat(json.get("eligible_requests").asInt()).isEqualTo(2);
        assertThat(json.get("events").get("CONVERSATIONAL_HIT").asInt()).isEqualTo(1);
        assertThat(json.get("events").get("MISS_FULL").asInt()).isEqualTo(1);
        assertThat(json.get("hit_rate").asDouble()).isEqualTo(0.5);
        assertThat(json.get("conversational_hit_rate").asDouble()).isEqualTo(1);
        assertThat(json.get("cross_request_hit_rate").asDouble()).isZero();
        assertThat(json.get("mean_cached_prefix_length_used").asDouble()).isEqualTo(48);
        assertThat(json.get("mean_num_tokens_actually_prefilled").asDouble()).isEqualTo(126);
        assertThat(json.get("prefilled_to_prompt_ratio").asDouble()).isEqualTo(0.84);
        assertThat(json.get("mean_ttft_hit_ms").asDouble()).isEqualTo(1_000);
        assertThat(json.get("mean_ttft_miss_ms").asDouble()).isEqualTo(3_000);
    }

    @Test
    void console_tellsOfPrefixCachingWhenThereIsSomethingToTell() {
        assertThat(RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                        .text())
                .contains("Prefix Caching by Request")
                .contains("Conversational hit rate (%):             100.00")
                .contains("Mean prefilled tokens:                   126.00");
    }

    @Test
    void prefixCacheEvents_haveTimesAndTokens() throws IOException {
        var out = new StringWriter();
        PrefixCacheEventsCsv.write(fixture.log.requests(), out);

        assertThat(out.toString().lines())
                .containsExactly(
                        "request_id,timestamp_ms,event_type,cached_prefix_length,num_tokens_prefilled_after_cache_check",
                        "0,1500.000000,CONVERSATIONAL_HIT,48,52",
                        "1,3100.000000,MISS_FULL,0,200");
    }

    /** Request 1 was admitted at 3.1 s; request 3 ends later, and looked into the cache at 0.5 s. */
    @Test
    void prefixCacheEvents_areInOrderOfTime() throws IOException {
        long[] token = {9 * ReportFixture.SECOND};
        fixture.log.addRequest(ReportFixture.request(3, 0, Outcome.COMPLETED, 0.1, 0.2, 0.5, token));
        var out = new StringWriter();

        PrefixCacheEventsCsv.write(fixture.log.requests(), out);

        assertThat(out.toString().lines().skip(1))
                .extracting(line -> line.substring(0, 1))
                .containsExactly("3", "0", "1");
    }

    /** Of 300 prompt tokens 252 were computed; the fourth request adds 50, without a look into the cache. */
    @Test
    void answerWithoutLookup_isNotEligible() {
        fixture.log.addRequest(RequestRecordBuilder.builder()
                .requestId(3)
                .outcome(Outcome.COMPLETED)
                .firstTokenNanos(1)
                .lastTokenNanos(2)
                .endNanos(2)
                .numPromptTokens(50)
                .numOutputTokens(1)
                .turn(SessionTurn.of(8, 2))
                .events(PrefixCacheEvents.NONE)
                .tokenNanos(LongLists.EMPTY_LIST)
                .build());

        var stats = fixture.report().prefixCaching();

        assertThat(stats.answered()).isEqualTo(3);
        assertThat(stats.eligible()).isEqualTo(2);
        assertThat(stats.conversationalTurns()).isEqualTo(1);
        assertThat(stats.prefilledTokens()).isEqualTo(252 + 50);
        assertThat(stats.ttftOfMisses().count()).isEqualTo(1);
    }

    @Test
    void csv_hasOneLinePerRequest() throws IOException {
        var out = new StringWriter();
        RequestsCsv.write(fixture.log.requests(), out);

        assertThat(out.toString().lines())
                .containsExactly(
                        "request_id,replica,outcome,arrival_ms,queue_time_ms,ttft_ms,tpot_ms,e2el_ms,prompt_tokens,"
                                + "cached_tokens,computed_tokens,output_tokens,num_preemptions,"
                                + "session_id,turn,is_conversational_turn,truncated_tokens,prefix_cache_events,"
                                + "cached_prefix_length_used,num_tokens_actually_prefilled,"
                                + "prefill_start_ms,prefill_end_ms",
                        "0,0,completed,1000.000000,400.000000,1000.000000,1000.000000,4000.000000,100,48,52,4,0,"
                                + "7,2,true,16,CONVERSATIONAL_HIT,48,52,1500.000000,2000.000000",
                        "1,1,completed,3000.000000,0.000000,3000.000000,,3000.000000,200,0,200,1,1,,,false,0,MISS_FULL,"
                                + "0,200,3100.000000,6000.000000",
                        "2,1,rejected,4000.000000,,,,,300,0,0,0,0,,,false,0,,0,0,,");
    }

    private JsonNode json() throws IOException {
        return new ObjectMapper()
                .readTree(RunResult.of(fixture.report(), fixture.log.requests(), ReportFixture.host())
                        .indentedJson());
    }
}
