package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;

/**
 * SGLang's own endpoints. The shapes are those that SGLang's tests ({@code test/srt/test_srt_endpoint.py}), its manual
 * ({@code docs/basic_usage/native_api.ipynb}, {@code sampling_params.md}) and {@code managers/schedule_batch.py} (reasons of
 * an end) show.
 */
final class GenerateRoutesTest {
    private static final String SGLANG = """
        engine.kind = sglang
        kv-cache.num-gpu-blocks = auto
        engine.sglang.max-total-tokens = 16000
        server.sglang.enable-metrics = true
        server.answers = echo
        """;

    @AutoClose
    private static final ServerFixture SHARED = new ServerFixture();

    private ServerFixture server = SHARED;

    @BeforeAll
    static void startShared() {
        start(SHARED);
    }

    private static void start(ServerFixture server) {
        server.moreSettings = SGLANG;
        server.start();
    }

    /** A server with settings of its own, which is not started yet. */
    private ServerFixture own() {
        server = new ServerFixture();
        return server;
    }

    @AfterEach
    void closeOwn() {
        if (server != SHARED) {
            server.close();
        }
    }

    private JsonNode generate(String fields) {
        var reply = server.post("/generate", "{" + fields + "}");
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json();
    }

    @Test
    void answer_hasItsTextAndItsFigures() {
        var answer = generate("\"input_ids\": [100, 101, 102, 103, 104], \"rid\": \"mine\","
                + " \"sampling_params\": {\"max_new_tokens\": 4, \"ignore_eos\": true}");

        assertThat(names(answer)).containsExactly("text", "output_ids", "meta_info");
        assertThat(answer.get("text").isTextual()).isTrue();
        assertThat(answer.get("output_ids")).hasSize(4);
        var meta = answer.get("meta_info");
        assertThat(meta.get("id").textValue()).isEqualTo("mine");
        assertThat(meta.get("finish_reason").toString()).isEqualTo("{\"type\":\"length\",\"length\":4}");
        assertThat(meta.get("prompt_tokens").intValue()).isEqualTo(5);
        assertThat(meta.get("completion_tokens").intValue()).isEqualTo(4);
        assertThat(meta.get("cached_tokens").intValue()).isZero();
        // Four steps of 5 ms, and a plan that waits for one at most.
        assertThat(meta.get("e2e_latency").doubleValue()).isBetween(0.02, 1.0);
        // Pages are of one token, and the last token of a prompt is computed in any case.
        var again = generate("\"input_ids\": [100, 101, 102, 103, 104], \"sampling_params\": {\"max_new_tokens\": 4}");
        assertThat(again.at("/meta_info/cached_tokens").intValue()).isEqualTo(4);
    }

    private static List<String> names(JsonNode object) {
        var names = new ArrayList<String>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    /** Without a limit there are at most 128 tokens; the one that ends a text is named. */
    @Test
    void end_isToldWithWhatMatched() {
        var end = generate("\"text\": \"one two three four\"").at("/meta_info/finish_reason");
        assertThat(end.get("type").textValue()).isEqualTo("stop");
        assertThat(end.get("matched").isInt()).isTrue();

        var stopped = generate("\"text\": \"one two three four\", \"sampling_params\": {\"stop\": [\"three\"]}");
        assertThat(stopped.at("/meta_info/finish_reason").toString())
                .isEqualTo("{\"type\":\"stop\",\"matched\":\"three\"}");
        assertThat(stopped.get("text").textValue()).endsWith("two ").doesNotContain("three");

        var untrimmed = generate("\"text\": \"one two three four\","
                + " \"sampling_params\": {\"stop\": \"three\", \"no_stop_trim\": true}");
        assertThat(untrimmed.get("text").textValue()).endsWith("two three");
    }

    @Test
    void defaultLimit_is128Tokens() {
        var answer = generate("\"text\": \"x\", \"sampling_params\": {\"ignore_eos\": true}");

        assertThat(answer.at("/meta_info/completion_tokens").intValue()).isEqualTo(128);
    }

    /** Prompts of prefill only, as routers and graders send them. */
    @Test
    void noTokens_mayBeAskedFor() {
        var answer = generate("\"text\": \"x\", \"sampling_params\": {\"max_new_tokens\": 0}");

        assertThat(answer.get("text").textValue()).isEmpty();
        assertThat(answer.at("/meta_info/completion_tokens").intValue()).isZero();
        assertThat(answer.at("/meta_info/finish_reason").toString()).isEqualTo("{\"type\":\"length\",\"length\":0}");
    }

    /** Each event has all of the text so far. */
    @Test
    void stream_isCumulative() {
        var reply = server.post(
                "/generate",
                "{\"text\": \"x\", \"stream\": true, \"sampling_params\": {\"max_new_tokens\": 6, \"ignore_eos\": true}}");

        assertThat(reply.headers().firstValue("content-type").orElse("")).startsWith("text/event-stream");
        assertThat(reply.isDone()).isTrue();
        var events = reply.events();
        assertThat(events).hasSizeGreaterThan(2);
        for (int i = 1; i < events.size(); i++) {
            String before = events.get(i - 1).get("text").textValue();
            assertThat(events.get(i).get("text").textValue()).startsWith(before);
            assertThat(events.get(i - 1).at("/meta_info/finish_reason").isNull())
                    .isTrue();
        }
        var last = events.get(events.size() - 1);
        assertThat(last.get("output_ids")).hasSize(6);
        assertThat(last.at("/meta_info/finish_reason/type").textValue()).isEqualTo("length");
    }

    @Test
    void lists_areAnsweredByLists() {
        String two = "\"text\": [\"a b\", \"c d\"], \"sampling_params\": {\"max_new_tokens\": 2, \"ignore_eos\": true}";

        var answers = generate(two + ", \"rid\": \"r\"");
        assertThat(answers.findValuesAsText("id")).containsExactly("r_0", "r_1");
        assertThat(generate(two + ", \"rid\": [\"p\", \"q\"]").findValuesAsText("id"))
                .containsExactly("p", "q");
        assertThat(generate("\"input_ids\": [[5, 6, 7]]")).hasSize(1);
        var sampled =
                generate("\"text\": \"a\", \"rid\": \"s\", \"sampling_params\": {\"n\": 3, \"max_new_tokens\": 1}");
        assertThat(sampled.findValuesAsText("id")).containsExactly("s_0", "s_1", "s_2");

        var events = server.post("/generate", "{" + two + ", \"stream\": true}").events();
        assertThat(events).allMatch(event -> event.get("index").isInt());
        assertThat(events.stream()
                        .filter(event -> !event.at("/meta_info/finish_reason").isNull()))
                .hasSize(2);
    }

    /** Tuples of a log probability, an id, and a text if that is asked for. */
    @Test
    void logprobs_areTuples() {
        String call = "\"input_ids\": [300, 301, 302], \"return_logprob\": true, \"top_logprobs_num\": 2,"
                + " \"sampling_params\": {\"max_new_tokens\": 4, \"ignore_eos\": true}";

        var meta = generate(call + ", \"logprob_start_len\": 0").get("meta_info");
        assertThat(meta.get("input_token_logprobs")).hasSize(3);
        assertThat(meta.get("output_token_logprobs")).hasSize(4);
        assertThat(meta.get("output_top_logprobs"))
                .hasSize(4)
                .allSatisfy(top -> assertThat(top).hasSize(2));
        var first = meta.get("output_token_logprobs").get(0);
        assertThat(first.get(0).doubleValue()).isNegative();
        assertThat(first.get(1).isInt()).isTrue();
        assertThat(first.get(2).isNull()).isTrue();

        var texts = generate(call + ", \"return_text_in_logprobs\": true").get("meta_info");
        assertThat(texts.get("input_token_logprobs")).isEmpty();
        assertThat(texts.at("/output_token_logprobs/0/2").isTextual()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"sampling_params\": {}|Either text, input_ids or input_embeds should be provided.",
                "\"text\": \"x\", \"sampling_params\": {\"top_p\": 0}|top_p must be in (0, 1], got 0.0.",
                "\"text\": \"x\", \"sampling_params\": {\"temperature\": -1}|temperature must be non-negative, got -1.0.",
                "\"text\": \"x\", \"sampling_params\": {\"top_k\": 0}|top_k must be -1 (disable) or at least 1, got 0.",
                "\"text\": \"x\", \"sampling_params\": {\"max_new_tokens\": -1}|max_new_tokens must be at least 0, got -1.",
                "\"text\": \"x\", \"sampling_params\": {\"max_new_tokens\": 1, \"min_new_tokens\": 2}"
                        + "|min_new_tokens must be in [0, max_new_tokens(1)], got 2.",
                "\"text\": \"x\", \"sampling_params\": {\"regex\": \"a\", \"ebnf\": \"b\"}"
                        + "|Only one of regex, json_schema, or ebnf can be set."
            })
    void wrongValues_areToldAsSglangDoes(String fields, String message) {
        String body = "{\"error\":{\"message\":\"" + message + "\"}}";

        var reply = server.post("/generate", "{" + fields + "}");
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text()).isEqualTo(body);

        // A stream has begun before the values are looked at.
        var stream = server.post("/generate", "{\"stream\": true, " + fields + "}");
        assertThat(stream.status()).isEqualTo(200);
        assertThat(stream.text()).isEqualTo("data: " + body + "\n\ndata: [DONE]\n\n");
    }

    /** As FastAPI refuses what breaks the schema, in SGLang's {@code ErrorResponse}. */
    @Test
    void wrongTypes_haveTheFlatBody() {
        var reply = server.post("/generate", "{\"text\": 5}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(names(reply.json())).containsExactly("object", "message", "type", "param", "code");
        assertThat(reply.json().get("object").textValue()).isEqualTo("error");
    }

    /** A name that begins with the given one is meant, too. */
    @ParameterizedTest
    @CsvSource({"'\"rid\": \"long\"'", "'\"rid\": \"lo\"'", "'\"abort_all\": true'"})
    void abortedCall_endsAsItIs(String meant) {
        own().speed = 0.1;
        start(server);
        var call = server.client()
                .sendAsync(
                        server.request("/generate")
                                .POST(HttpRequest.BodyPublishers.ofString("{\"text\": \"x\", \"rid\": \"long\","
                                        + " \"sampling_params\": {\"max_new_tokens\": 1000, \"ignore_eos\": true}}"))
                                .build(),
                        BodyHandlers.ofString());
        server.awaitMetric("sglang:num_running_reqs", "", count -> count == 1);
        // What runs holds its tokens.
        assertThat(server.post("/flush_cache", "").status()).isEqualTo(400);
        assertThat(server.post("/abort_request", "{\"rid\": \"other\"}").status())
                .isEqualTo(200);

        assertThat(server.post("/abort_request", "{" + meant + "}").status()).isEqualTo(200);

        var answer =
                new ServerFixture.Reply(200, call.join().headers(), call.join().body()).json();
        assertThat(answer.at("/meta_info/finish_reason/type").textValue()).isEqualTo("abort");
        server.awaitMetric("sglang:num_aborted_requests_total", "", count -> count == 1);
    }

    @Test
    void flushedCache_isForgotten() {
        String call = "\"input_ids\": [200, 201, 202, 203, 204], \"sampling_params\": {\"max_new_tokens\": 1}";
        generate(call);
        server.awaitMetric("sglang:num_running_reqs", "", count -> count == 0);

        var reply = server.post("/flush_cache", "");

        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        assertThat(reply.text()).startsWith("Cache flushed.\n");
        assertThat(generate(call).at("/meta_info/cached_tokens").intValue()).isZero();
    }

    @Test
    void pausedEngine_goesOnWhenItIsToldTo() {
        var paused = server.post("/pause_generation", "{\"mode\": \"in_place\"}");
        assertThat(paused.text()).isEqualTo("{\"message\":\"Generation paused successfully.\",\"status\":\"ok\"}");
        assertThat(server.get("/is_sleeping").json().get("is_sleeping").booleanValue())
                .isTrue();

        var continued = server.post("/continue_generation", "{}");
        assertThat(continued.text())
                .isEqualTo("{\"message\":\"Generation continued successfully.\",\"status\":\"ok\"}");
        assertThat(generate("\"text\": \"x\"")).isNotEmpty();
    }

    /** As {@code SlowDownReqInput} and {@code slow_down} of SGLang's {@code http_server.py} have it. */
    @Test
    void slowedForward_sleepsUntilItIsReset() {
        String call = "\"text\": \"x\", \"sampling_params\": {\"max_new_tokens\": 4, \"ignore_eos\": true}";

        var slowed = server.post("/slow_down", "{\"forward_sleep_time\": 2}");

        assertThat(slowed.status()).isEqualTo(200);
        assertThat(slowed.text()).isEqualTo("null");
        // Four forwards that sleep for 2 s each, and one more in vain at most; without that they take 5 ms each.
        assertThat(generate(call).at("/meta_info/e2e_latency").doubleValue()).isBetween(8.0, 11.0);
        assertThat(server.post("/slow_down", "{\"forward_sleep_time\": null}").status())
                .isEqualTo(200);
        assertThat(generate(call).at("/meta_info/e2e_latency").doubleValue()).isLessThan(8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|Field required",
                "{\"forward_sleep_time\": -1}|forward_sleep_time is -1.0; a number from 0 to 3600 is allowed",
                "{\"forward_sleep_time\": \"x\"}|Input should be a valid number"
            })
    void sleepThatCannotBe_isRefused(String body, String problem) {
        var refused = server.post("/slow_down", body);

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text()).contains(problem);
    }

    @Test
    void modelAndHealth_areTold() {
        for (String path : List.of("/model_info", "/get_model_info")) {
            var info = server.get(path).json();
            assertThat(info.get("model_path").textValue()).isEqualTo("m");
            assertThat(info.get("is_generation").booleanValue()).isTrue();
        }
        assertThat(server.get("/health_generate").status()).isEqualTo(200);
    }

    /** SGLang asks for its key everywhere but at its probes and metrics. */
    @Test
    void key_isAskedFor() {
        own().apiKey = "secret";
        start(server);

        assertThat(server.post("/generate", "{\"text\": \"x\"}").status()).isEqualTo(401);
        assertThat(server.get("/model_info").status()).isEqualTo(401);
        assertThat(server.get("/health_generate").status()).isEqualTo(200);
        assertThat(server.post("/generate", "{\"text\": \"x\"}", "Authorization", "Bearer secret")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void portsOfOtherEngines_haveNoneOfIt() {
        own().portsPerReplica = true;
        server.moreSettings = """
            cluster.groups = [
              { name = vllm, replicas = 1 }
              { name = sglang, replicas = 1, engine.kind = sglang, kv-cache.num-gpu-blocks = auto }
            ]
            """;
        server.start();

        assertThat(generateAt(server.server().address().getPort())).isEqualTo(200);
        assertThat(generateAt(portOf(0))).isEqualTo(404);
        assertThat(generateAt(portOf(1))).isEqualTo(200);
    }

    private int portOf(int replica) {
        return server.server().replicaAddresses().get(replica).getPort();
    }

    private int generateAt(int port) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/generate"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"text\": \"x\"}"))
                .build();
        return server.client()
                .sendAsync(request, BodyHandlers.discarding())
                .join()
                .statusCode();
    }
}
