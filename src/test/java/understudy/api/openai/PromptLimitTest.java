package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;

/** Prompts that do not fit, with 2048 tokens of context and tokens of at most 128 characters. */
final class PromptLimitTest {
    private static final ServerFixture SERVER = start();

    private static ServerFixture start() {
        var server = new ServerFixture();
        server.maxBodyBytes = 16 << 20;
        return server.start();
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        # 2048 tokens for all but the 48 of the answer: 2000 * 128 = 256000 characters
        /v1/completions      | {"max_tokens": 48, "prompt": "TEXT"}               | 300000 | 48 | 256000 | 2000
        /v1/completions      | {"max_tokens": 48, "prompt": ["x", "TEXT"]}        | 300000 | 48 | 256000 | 2000
        # <|im_start|>user, a new line, the text, <|im_end|>, a new line, <|im_start|>assistant, a new line: 12 + 5 + 11 + 12 + 10
        /v1/chat/completions | {"messages": [{"role": "user", "content": "TEXT"}]} | 300050 | 0  | 262144 | 2048
        /v1/responses        | {"input": "TEXT"}                                  | 300050 | 0  | 262144 | 2048
        """)
    void textOfTooManyCharacters_isRefusedInVllmsWords(
            String path, String body, int numChars, int numOutput, int maxChars, int maxTokens) {
        var reply = SERVER.post(path, body.replace("TEXT", "a".repeat(300_000)));

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/param").asText()).isEqualTo("input_text");
        assertThat(reply.json().at("/error/message").asText())
                .isEqualTo("This model's maximum context length is 2048 tokens. However, you requested " + numOutput
                        + " output tokens and your prompt contains " + numChars + " characters (more than " + maxChars
                        + " characters, which is the upper bound for " + maxTokens + " input tokens). Please reduce the"
                        + " length of the input prompt or the number of requested output tokens. (parameter=input_text,"
                        + " value=" + numChars + ")");
    }

    /** 8 letters a token: 5000 tokens, of which no more are made than show that 2000 are too few. */
    @Test
    void textOfTooManyTokens_isEncodedUpToOneTooMany() {
        var reply = SERVER.post("/v1/completions", "{\"max_tokens\": 48, \"prompt\": \"" + "a".repeat(40_000) + "\"}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText())
                .contains("contains at least 2001 input tokens, for a total of at least 2049 tokens");
    }

    @Test
    void tokenIds_areCounted() {
        String ids = "1,".repeat(4999) + "1";
        var one = SERVER.post("/v1/completions", "{\"max_tokens\": 48, \"prompt\": [" + ids + "]}");
        var many = SERVER.post("/v1/completions", "{\"max_tokens\": 48, \"prompt\": [[1], [" + ids + "]]}");

        assertThat(one.json().at("/error/message").asText())
                .contains("contains 5000 input tokens, for a total of 5048 tokens");
        assertThat(many.json().at("/error/message").asText()).contains("contains 5000 input tokens");
    }

    @Test
    void answersOfOneCall_areLimited() {
        String prompts = "\"x\",".repeat(4) + "\"x\"";

        var reply = SERVER.post("/v1/completions", "{\"max_tokens\": 1, \"n\": 4000, \"prompt\": [" + prompts + "]}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText())
                .isEqualTo("prompts times n must be at most 16384, got 20000.");
    }

    @Test
    void toolsAreCountedToo() {
        var reply = SERVER.post(
                "/v1/chat/completions",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [{\"type\": \"function\","
                        + " \"function\": {\"name\": \"f\", \"description\": \"" + "a".repeat(300_000) + "\"}}]}");

        assertThat(reply.json().at("/error/param").asText()).isEqualTo("input_text");
    }

    @Test
    void truncatedText_mayBeOfAnyLength() {
        var reply = SERVER.post(
                "/v1/completions",
                "{\"max_tokens\": 1, \"truncate_prompt_tokens\": 10, \"prompt\": \"" + "a word ".repeat(300_000)
                        + "\"}");
        var chat = SERVER.post(
                "/v1/chat/completions",
                "{\"max_tokens\": 1, \"truncate_prompt_tokens\": 10, \"messages\": [{\"role\": \"user\", \"content\":"
                        + " \""
                        + "a word ".repeat(300_000) + "\"}]}");

        assertThat(reply.json().at("/usage/prompt_tokens").asInt()).isEqualTo(10);
        assertThat(chat.json().at("/usage/prompt_tokens").asInt()).isEqualTo(10);
    }

    /** Who counts wants to know of texts that do not fit; up to a million tokens. */
    @Test
    void tokenize_knowsNoContext_butALimit() {
        var counted = SERVER.post("/tokenize", "{\"prompt\": \"" + "a word ".repeat(10_000) + "\"}");
        var refused = SERVER.post("/tokenize", "{\"prompt\": \"" + "1 ".repeat(1_000_000) + "\"}");
        var ids = SERVER.post("/detokenize", "{\"tokens\": [" + "1,".repeat(200_000) + "1]}");

        // "a", then " word", " a" over and over, and the space at the end.
        assertThat(counted.json().at("/count").asInt()).isEqualTo(20_001);
        assertThat(refused.json().at("/error/message").asText()).isEqualTo("prompt must have at most 1048576 tokens");
        assertThat(ids.json().at("/error/message").asText()).isEqualTo("tokens must have at most 131072 tokens");
    }
}
