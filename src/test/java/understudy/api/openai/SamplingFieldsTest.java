package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;

/** Fields of a request that say which tokens may be sampled, and how they are told. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SamplingFieldsTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String QUESTION = "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "n": 16385 | null | n must be at most 16384, got 16385. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.
        "n": 0 | null | n must be at least 1, got 0.
        "top_k": -2 | null | top_k must be 0 (disable), or at least 1, got -2.
        "min_p": 2 | null | min_p must be in [0, 1], got 2.0.
        "presence_penalty": -3 | null | presence_penalty must be in [-2, 2], got -3.0.
        "repetition_penalty": 0 | null | repetition_penalty must be greater than zero, got 0.0.
        "min_tokens": -1 | null | min_tokens must be greater than or equal to 0, got -1.
        "stop": "" | null | stop cannot contain an empty string.
        "temperature": -1 | temperature | temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)
        "temperature": 3 | temperature | temperature must be in [0, 2], got 3.0. (parameter=temperature, value=3.0)
        "top_p": 0 | top_p | top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)
        "stream_options": {"include_usage": true} | stream_options | Stream options can only be defined when `stream=True`. (parameter=stream_options)
        "prompt_logprobs": 1, "stream": true | prompt_logprobs | `prompt_logprobs` are not available when `stream=True`. (parameter=prompt_logprobs)
        "prompt_logprobs": -1 | prompt_logprobs | Requested prompt logprobs of SIZE, which is greater than max allowed: 20 (parameter=prompt_logprobs, value=SIZE)
        "prompt_logprobs": -2 | prompt_logprobs | `prompt_logprobs` must be a positive value or -1. (parameter=prompt_logprobs, value=-2)
        "prompt_logprobs": 21 | prompt_logprobs | Requested prompt logprobs of 21, which is greater than max allowed: 20 (parameter=prompt_logprobs, value=21)
        "prompt_logprobs": "2" | prompt_logprobs | `prompt_logprobs` must be an integer. (parameter=prompt_logprobs, value=2)
        "cache_salt": "" | cache_salt | Parameter 'cache_salt' must be a non-empty string if provided. (parameter=cache_salt)
        "logit_bias": {"abc": 1, "5": 1} | logit_bias | logit_bias contains key(s) that cannot be converted to integer token IDs: ['abc'] (parameter=logit_bias, value=['abc'])
        "logit_bias": {"999999999": 1} | logit_bias | token_id(s) [999999999] in logit_bias contain out-of-vocab token ids. Vocabulary size: SIZE (parameter=logit_bias, value=[999999999])
        "allowed_token_ids": [] | allowed_token_ids | allowed_token_ids is not None and empty! (parameter=allowed_token_ids, value=[])
        "allowed_token_ids": [5, 999999999] | allowed_token_ids | allowed_token_ids contains out-of-vocab token id! (parameter=allowed_token_ids, value=[999999999])
        "bad_words": ["a", ""] | null | bad_words cannot contain an empty string. Got bad_words=['a', '']
        """)
    void badField_isRefusedInVllmsWords(String fields, String param, String message) {
        // The last tokens of cl100k-base with ChatML are <|im_start|>, 100264, and <|im_end|>.
        String wanted = message.replace("SIZE", "100266");
        for (var reply : List.of(
                server.post(CHAT, "{%s, %s}".formatted(QUESTION, fields)),
                server.post(COMPLETIONS, "{\"prompt\": \"x\", %s}".formatted(fields)))) {
            requireRefused(reply, param, wanted);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "top_logprobs": "2", "logprobs": true | top_logprobs | `top_logprobs` must be an integer. (parameter=top_logprobs, value=2)
        "top_logprobs": -2, "logprobs": true | top_logprobs | `top_logprobs` must be a positive value or -1. (parameter=top_logprobs, value=-2)
        "top_logprobs": 2 | top_logprobs | when using `top_logprobs`, `logprobs` must be set to true. (parameter=top_logprobs)
        "logprob_token_ids": [5] | logprob_token_ids | when using `logprob_token_ids`, `logprobs` must be set to true. (parameter=logprob_token_ids)
        "tools": [] | tools | `tools` must not be an empty array. Either provide at least one tool or omit the field entirely. (parameter=tools)
        "max_completion_tokens": 0 | max_tokens | max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)
        "reasoning_effort": "ultra" | body.reasoning_effort | 1 validation error:NL{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': "Input should be 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' or 'max'"}
        "truncation_side": "up" | body.truncation_side | 1 validation error:NL{'type': 'literal_error', 'loc': ('body', 'truncation_side'), 'msg': "Input should be 'left' or 'right'"}
        "stream_interval": 0 | body.stream_interval | 1 validation error:NL{'type': 'greater_than_equal', 'loc': ('body', 'stream_interval'), 'msg': 'Input should be greater than or equal to 1'}
        "vllm_xargs": {"a": {}} | body.vllm_xargs.a | 1 validation error:NL{'type': 'string_type', 'loc': ('body', 'vllm_xargs', 'a'), 'msg': 'Input should be a valid string'}
        """)
    void badFieldOfAChat_isRefusedInVllmsWords(String fields, String param, String message) {
        requireRefused(server.post(CHAT, "{%s, %s}".formatted(QUESTION, fields)), param, message.replace("NL", "\n  "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {} | Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)
        {"prompt": ""} | Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)
        {"prompt": []} | The decoder prompt cannot be empty
        """)
    void emptyPrompt_isRefused(String body, String message) {
        requireRefused(server.post(COMPLETIONS, body), "prompt", message);
    }

    @Test
    void manyPrompts_areRefused_andManyTokensAreOnePrompt() {
        String texts = IntStream.range(0, 1025).mapToObj(i -> "\"x\"").collect(Collectors.joining(","));
        String ids = IntStream.range(0, 1025).mapToObj(i -> "5").collect(Collectors.joining(","));

        requireRefused(
                server.post(COMPLETIONS, "{\"prompt\": [" + texts + "]}"),
                "prompt",
                "prompt list length 1025 exceeds the maximum allowed count of 1024. To increase this limit, set the"
                        + " VLLM_MAX_COMPLETION_PROMPTS environment variable. (parameter=prompt)");
        assertThat(server.post(COMPLETIONS, "{\"max_tokens\": 1, \"prompt\": [" + ids + "]}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void badWords_areLimited() {
        String words = IntStream.range(0, 129).mapToObj(i -> "\"w" + i + "\"").collect(Collectors.joining(","));
        var many = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"bad_words\": [" + words + "]}");
        var longOnes =
                server.post(COMPLETIONS, "{\"prompt\": \"x\", \"bad_words\": [\"" + "1 2 3 ".repeat(400) + "\"]}");

        assertThat(many.json().at("/error/message").asText())
                .startsWith("Too many bad words after tokenization: 129. The max number is 128. (parameter=bad_words");
        assertThat(longOnes.json().at("/error/message").asText()).startsWith("Too many total bad word tokens: ");
    }

    @Test
    void noMessages_areATemplatesBusiness() {
        var reply = server.post(CHAT, "{\"messages\": [], \"max_tokens\": 2}");

        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({"\"stream\": true", "\"stream\": false"})
    void allowedTokens_areTheOnlyOnes(String stream) {
        var tokens = sampled("\"allowed_token_ids\": [5, 8], \"max_tokens\": 30, " + stream);

        // Without the token that ends a text, the answer goes on until its limit.
        assertThat(tokens).hasSize(30).containsOnly(5, 8);
    }

    /** Answers of the fixture have at most 40 tokens, and their end, which is {@code <|im_end|>}. */
    @Test
    void allowedTokens_mayEndTheAnswer() {
        String body = "{\"prompt\": \"x\", \"max_tokens\": 99, \"allowed_token_ids\": %s}";

        var some = server.post(COMPLETIONS, body.formatted("[5, 100265]")).json();
        var only = server.post(COMPLETIONS, body.formatted("[100265]")).json();

        assertThat(some.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
        assertThat(some.at("/usage/completion_tokens").asInt()).isBetween(6, 41);
        assertThat(only.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
        assertThat(only.at("/usage/completion_tokens").asInt()).isEqualTo(1);
    }

    @Test
    void biasThatDecides_samplesOrBans() {
        var favoured = sampled("\"logit_bias\": {\"5\": 100, \"8\": 100, \"9\": -100}, \"max_tokens\": 30");
        int period = token(".");
        var without =
                sampled("\"logit_bias\": {\"%d\": -100}, \"ignore_eos\": true, \"max_tokens\": 60".formatted(period));
        var with = sampled("\"logit_bias\": {\"%d\": -99}, \"ignore_eos\": true, \"max_tokens\": 60".formatted(period));

        assertThat(favoured).hasSize(30).containsOnly(5, 8);
        assertThat(without).hasSize(60).doesNotContain(period);
        assertThat(with).contains(period);
    }

    @Test
    void badWords_doNotCome() {
        String body = "\"seed\": 7, \"ignore_eos\": true, \"max_tokens\": 40";
        var given = sampled(body);
        int word = given.get(3);
        String text = text(given.subList(3, 4)).strip();
        String pair = text(given.subList(20, 22)).strip();

        var single = sampled(body + ", \"bad_words\": [\"" + text + "\"]");
        var both = sampled(body + ", \"bad_words\": [\"" + pair + "\"]");

        assertThat(single).hasSize(40).doesNotContain(word);
        // Two words in a row are another matter than each by itself.
        assertThat(text(both)).doesNotContain(" " + pair + " ");
        assertThat(both.subList(0, 20)).isEqualTo(given.subList(0, 20));
    }

    @Test
    void tokensAsIds_nameTokensInLogprobs() {
        var chat = server.post(CHAT, """
            {%s, "max_tokens": 2, "logprobs": true, "top_logprobs": 2, "return_tokens_as_token_ids": true,
             "return_token_ids": true}\
            """.formatted(QUESTION)).json().at("/choices/0");
        var completion = server.post(COMPLETIONS, """
            {"prompt": "x", "max_tokens": 2, "logprobs": 2, "return_tokens_as_token_ids": true,
             "return_token_ids": true}\
            """).json().at("/choices/0");

        String first = "token_id:" + chat.at("/token_ids/0").asInt();
        assertThat(chat.at("/logprobs/content/0/token").asText()).isEqualTo(first);
        assertThat(chat.at("/logprobs/content/0/top_logprobs/1/token").asText()).startsWith("token_id:");
        assertThat(completion.at("/logprobs/tokens/1").asText())
                .isEqualTo("token_id:" + completion.at("/token_ids/1").asInt());
        assertThat(completion.at("/logprobs/top_logprobs/0").fieldNames())
                .toIterable()
                .allMatch(name -> name.startsWith("token_id:"));
    }

    @Test
    void logprobsOfNamedTokens_takeThePlaceOfTheMostLikely() {
        var chat = server.post(CHAT, """
            {%s, "max_tokens": 1, "logprobs": true, "top_logprobs": 5, "logprob_token_ids": [5, 8],
             "return_tokens_as_token_ids": true}\
            """.formatted(QUESTION)).json().at("/choices/0/logprobs/content/0");
        var completion = server.post(COMPLETIONS, """
            {"prompt": "x", "max_tokens": 1, "logprobs": 0, "logprob_token_ids": [5, 8],
             "return_tokens_as_token_ids": true}\
            """).json().at("/choices/0/logprobs");

        assertThat(chat.at("/top_logprobs"))
                .extracting(top -> top.get("token").asText())
                .containsExactly("token_id:5", "token_id:8");
        assertThat(chat.at("/top_logprobs"))
                .allMatch(top ->
                        top.get("logprob").asDouble() < chat.get("logprob").asDouble());
        // The sampled token, and the two.
        assertThat(completion.at("/top_logprobs/0")).hasSize(3);
    }

    @Test
    void streamInterval_isTheTokensOfAChunk() {
        var events = server.post(COMPLETIONS, """
            {"prompt": "x", "max_tokens": 12, "ignore_eos": true, "stream": true, "stream_interval": 4,
             "return_token_ids": true}\
            """).events();

        // As in vLLM the first token goes out alone: 1, then 4 and 4, and the last 3 with the end.
        assertThat(events)
                .extracting(event -> event.at("/choices/0/token_ids").size())
                .containsExactly(1, 4, 4, 3);
        assertThat(events.get(3).at("/choices/0/finish_reason").asText()).isEqualTo("length");
    }

    @Test
    void echoOfAChat_repeatsTheLastMessageOfTheAssistant() {
        String body = """
            {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Once upon"}],
             "echo": true, "seed": 3, "n": 2, "max_tokens": 3, "stream": %s}\
            """;

        var whole = server.post(CHAT, body.formatted(false)).json();
        var events = server.post(CHAT, body.formatted(true)).events();
        var ofUser = server.post(CHAT, "{%s, \"echo\": true, \"max_tokens\": 3}".formatted(QUESTION))
                .json();

        // Two roles, two echoes, and then the answers.
        assertThat(events.get(2).at("/choices/0/delta/content").asText()).isEqualTo("Once upon");
        assertThat(events.get(3).at("/choices/0/index").asInt()).isEqualTo(1);
        for (int choice = 0; choice < 2; choice++) {
            String text = whole.at("/choices/" + choice + "/message/content").asText();
            assertThat(text).startsWith("Once upon").hasSizeGreaterThan("Once upon".length());
            assertThat(streamed(events, choice)).isEqualTo(text);
        }
        assertThat(ofUser.at("/choices/0/message/content").asText()).doesNotStartWith("Hello");
    }

    @Test
    void invocations_areWhatTheirBodiesSay() {
        var chat = server.post("/invocations", "{%s, \"max_tokens\": 1}".formatted(QUESTION));
        var completion = server.post("/invocations", "{\"prompt\": \"x\", \"max_tokens\": 1}");
        var other = server.post("/invocations", "{\"inputs\": \"x\"}");

        assertThat(chat.json().get("object").asText()).isEqualTo("chat.completion");
        assertThat(completion.json().get("object").asText()).isEqualTo("text_completion");
        requireRefused(
                other,
                "null",
                "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest',"
                        + " 'CompletionRequest']");
    }

    private static String streamed(List<JsonNode> events, int choice) {
        return events.stream()
                .map(event -> event.at("/choices/0"))
                .filter(each -> each.get("index").asInt() == choice)
                .map(each -> each.at("/delta/content").asText())
                .collect(Collectors.joining());
    }

    private List<Integer> sampled(String fields) {
        var reply = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"return_token_ids\": true, %s}".formatted(fields));
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        var tokens = new ArrayList<Integer>();
        var events = fields.contains("\"stream\": true") ? reply.events() : List.of(reply.json());
        events.forEach(event -> event.at("/choices/0/token_ids").forEach(token -> tokens.add(token.asInt())));
        return tokens;
    }

    private int token(String text) {
        return server.post("/tokenize", "{\"prompt\": \"%s\"}".formatted(text))
                .json()
                .at("/tokens/0")
                .asInt();
    }

    private String text(List<Integer> tokens) {
        return server.post("/detokenize", "{\"tokens\": %s}".formatted(tokens))
                .json()
                .get("prompt")
                .asText();
    }

    private static void requireRefused(ServerFixture.Reply reply, String param, String message) {
        assertThat(reply.status()).as(reply.text()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).isEqualTo(message);
        assertThat(reply.json().at("/error/param").asText()).isEqualTo(param);
    }
}
