package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.api.model.SmallTokenizer;
import understudy.settings.ScenarioException;

/** A server with a model's own chat template. */
final class ServedChatTemplateTest {
    private static final String TEMPLATE = """
        {%- for message in messages %}
            {%- if message.role == 'critic' %}{{ raise_exception('No critics') }}{% endif %}
            {{- '<|im_start|>' + message.role + ' ' + message.content + '<|im_end|>' }}
        {%- endfor %}
        {%- if add_generation_prompt %}{{ '<|im_start|>' }}{% if thinks %}!{% endif %}{% endif %}
        """;

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @TempDir
    private Path folder;

    /** 261 and 262 are the markers, then the letters of user, a space, and hello as a token of its own. */
    @Test
    void promptOfAChat_isTheEncodedTemplate() throws IOException {
        start(TEMPLATE);
        String ids = "[261,117,115,101,114,32,259,262,261]";

        var rendered =
                server.post("/v1/chat/completions/render", chat("hello", "")).json();
        var tokenized = server.post("/tokenize", chat("hello", "")).json();
        var thinking = server.post("/tokenize", chat("hello", ", \"chat_template_kwargs\": {\"thinks\": true}"))
                .json();
        var answered = server.post("/v1/chat/completions", chat("hello", ", \"max_tokens\": 2"))
                .json();
        var counted = server.post(
                        "/v1/messages/count_tokens",
                        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}")
                .json();

        assertThat(rendered.get("token_ids")).hasToString(ids);
        assertThat(tokenized.get("tokens")).hasToString(ids);
        assertThat(thinking.get("tokens")).hasToString(ids.replace("]", ",33]"));
        assertThat(answered.at("/usage/prompt_tokens").asInt()).isEqualTo(9);
        assertThat(counted.path("input_tokens").asInt()).isEqualTo(9);
    }

    @Test
    void response_isRenderedAsWell() throws IOException {
        start(TEMPLATE);

        var response = server.post("/v1/responses", "{\"input\": \"hello\", \"max_output_tokens\": 2}")
                .json();

        assertThat(response.at("/usage/input_tokens").asInt()).isEqualTo(9);
    }

    /** 5 + 16 * 2 + 2 tokens: two blocks of 16 are full, and those of a longer chat are the same. */
    @Test
    void nextTurn_findsTheTurnBeforeInTheCache() throws IOException {
        start(TEMPLATE);
        String hellos = "hello" + " hello".repeat(15);
        server.post("/v1/chat/completions", chat(hellos, ", \"max_tokens\": 2"));

        var next = server.post(
                        "/v1/chat/completions",
                        "{\"max_tokens\": 2, \"messages\": [{\"role\": \"user\", \"content\": \"" + hellos
                                + "\"},{\"role\":"
                                + " \"assistant\","
                                + " \"content\":"
                                + " \"x\"},"
                                + " {\"role\":"
                                + " \"user\","
                                + " \"content\":"
                                + " \"y\"}]}")
                .json();

        assertThat(next.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isEqualTo(32);
    }

    @Test
    void exceptionOfTheTemplate_isABadRequest() throws IOException {
        start(TEMPLATE);

        var reply =
                server.post("/v1/chat/completions", "{\"messages\": [{\"role\": \"critic\", \"content\": \"hello\"}]}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).isEqualTo("No critics");
        assertThat(reply.json().at("/error/type").asText()).isEqualTo("BadRequestError");
    }

    @Test
    void brokenTemplate_isRefusedAtTheStart() {
        assertThatThrownBy(() -> start("{% for %}"))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("server.chat-template is \"auto\"")
                .hasMessageContaining("chat_template.jinja is no chat template: line 1: expected a name");
    }

    private static String chat(String content, String more) {
        return "{\"messages\": [{\"role\": \"user\", \"content\": \"" + content + "\"}]" + more + "}";
    }

    private void start(String template) throws IOException {
        Files.writeString(folder.resolve("chat_template.jinja"), template);
        server.moreSettings = "server.tokenizer = \"" + SmallTokenizer.write(folder) + "\"";
        server.start();
    }
}
