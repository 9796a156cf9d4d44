package understudy.api.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.media.MediaProcessor;
import understudy.api.media.SmallMedia;

/** Where a model's template is found, and what it gets to read. */
final class ModelTemplateTest {
    @TempDir
    private Path folder;

    private Tokenizer.Source tokenizer;

    @BeforeEach
    void writeTokenizer() throws IOException {
        SmallTokenizer.write(folder);
        tokenizer = new TokenizerFile(folder);
    }

    @Test
    void file_goesBeforeTheConfiguration() throws IOException {
        assertThat(ModelTemplate.read("auto", tokenizer)).isNull();
        write(
                "tokenizer_config.json",
                "{\"chat_template\": \"config{{ bos_token }}{{ eos_token }}\","
                        + " \"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": \"</s>\", \"pad_token\": null}");
        assertThat(rendered("auto", "{}")).isEqualTo("config<s></s>");
        write("chat_template.jinja", "file{{ bos_token }}{{ pad_token }}");
        assertThat(rendered("auto", "{}")).isEqualTo("file<s>");
        assertThat(rendered("asked{{ bos_token }}\\n-", "{}")).isEqualTo("asked<s>\n-");
        assertThat(rendered(write("other.jinja", "other").toString(), "{}")).isEqualTo("other");
        assertThat(ModelTemplate.read("none", tokenizer)).isNull();
        assertThat(ModelTemplate.read("auto", Tokenizer.Vocabulary.CL100K_BASE)).isNull();
    }

    @Test
    void namedTemplates_areForChatsWithAndWithoutTools() throws IOException {
        write(
                "tokenizer_config.json",
                "{\"chat_template\": [{\"name\": \"default\", \"template\": \"plain\"},"
                        + " {\"name\": \"tool_use\", \"template\": \"tools\"}]}");

        assertThat(rendered("auto", "{}")).isEqualTo("plain");
        assertThat(rendered("auto", "{\"tools\": [{\"function\": {\"name\": \"f\"}}]}"))
                .isEqualTo("tools");
    }

    @Test
    void unusableFiles_areRefusedByName() throws IOException {
        assertThatThrownBy(() -> ModelTemplate.read("/no/such.jinja", tokenizer))
                .hasMessage("which is neither a file nor a template");
        var file = write("chat_template.jinja", "a\n{% if %}");
        assertThatThrownBy(() -> ModelTemplate.read("auto", tokenizer))
                .hasMessage("but " + file + " is no chat template: line 2: unexpected 'end of statement block'");
        var config = write("tokenizer_config.json", "{");
        assertThatThrownBy(() -> ModelTemplate.read("auto", tokenizer))
                .hasMessageStartingWith("but " + config + " is not JSON");
    }

    /** Fields that a tool does not have are null, and stand in the order of vLLM's schema. */
    @Test
    void tools_areWrittenAsVllmHandsThemOver() {
        assertThat(rendered("{{ tools|tojson }}", "{\"tools\": [{\"function\": {\"strict\": true, \"name\": \"f\"}}]}"))
                .isEqualTo("[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": null,"
                        + " \"parameters\": null, \"strict\": true}}]");
        assertThat(rendered("{{ tools is none }}{{ documents is none }}", "{}")).isEqualTo("TrueTrue");
    }

    @Test
    void toolCalls_haveTheirArgumentsAsObjects() {
        String call = "{\"role\": \"assistant\", \"reasoning\": \"why\", \"tool_calls\": [{\"type\": \"function\","
                + " \"id\": \"c1\", \"function\": {\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 1}\"}}]}";
        String answer = "{\"role\": \"tool\", \"tool_call_id\": \"c1\", \"content\": null}";

        assertThat(rendered("{{ messages|tojson }}", "{}", call, answer))
                .isEqualTo(
                        "[{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{\"id\": \"c1\", \"function\":"
                                + " {\"arguments\": {\"x\": 1}, \"name\": \"f\"}, \"type\": \"function\"}], \"reasoning\": \"why\","
                                + " \"reasoning_content\": \"why\"}, {\"role\": \"tool\", \"content\": \"\", \"tool_call_id\": \"c1\"}]");
        assertThatThrownBy(() -> rendered("{{ 1 }}", "{}", call.replace("{\\\"x\\\": 1}", "{")))
                .isInstanceOf(ApiException.class)
                .hasMessageStartingWith("The arguments of a tool call are no JSON");
    }

    /** Text where the template writes contents as they are, parts where it loops over them. */
    @Test
    void contents_areInTheFormThatTheTemplateReads() {
        String parts = "{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"a\"}, \"b\"]}";
        String text = "{\"role\": \"user\", \"content\": \"c\"}";
        String loop =
                "{% for m in messages %}{% for p in m.content %}{{ p.type }}={{ p.text }};{% endfor %}{% endfor %}";

        assertThat(rendered("{{ messages|map(attribute='content')|list }}", "{}", parts, text))
                .isEqualTo("['a\\nb', 'c']");
        assertThat(rendered(loop, "{}", parts, text)).isEqualTo("text=a;text=b;text=c;");
    }

    /** The answer of a tool is a text even if it came in parts, and the template loops over the parts of others. */
    @Test
    void answersOfTools_areTexts() {
        String answer =
                "{\"role\": \"tool\", \"content\": [{\"type\": \"text\", \"text\": \"a\"}, {\"type\": \"text\", \"text\":"
                        + " \"b\"}]}";
        String template =
                "{% for m in messages %}{% if m.role == 'tool' %}{{ m.content }}{% else %}{% for p in m.content"
                        + " %}{{ p.type }}{% endfor %}{% endif %}{% endfor %}";

        assertThat(rendered(template, "{}", answer)).isEqualTo("a\nb");
    }

    @Test
    void request_setsVariables() {
        String body =
                "{\"chat_template_kwargs\": {\"enable_thinking\": false, \"n\": 1.5}, \"reasoning_effort\": \"low\","
                        + " \"documents\": [{\"title\": \"t\"}], \"add_generation_prompt\": false}";

        assertThat(rendered("{{ [enable_thinking, n, reasoning_effort, documents, add_generation_prompt] }}", body))
                .isEqualTo("[False, 1.5, 'low', [{'title': 't'}], False]");
        assertThatThrownBy(() -> rendered("{{ 1 }}", "{\"chat_template\": \"x\"}"))
                .hasMessageContaining("Refused request with untrusted chat template.");
        assertThatThrownBy(() -> rendered("{{ 1 }}", "{\"chat_template_kwargs\": {\"tokenize\": true}}"))
                .hasMessage("Found unexpected chat template kwargs from request: {'tokenize'}");
    }

    /** The end tag goes, and so does the space that a template trims. */
    @Test
    void lastMessage_isLeftOpenToBeContinued() {
        String body = "{\"continue_final_message\": true}";
        String message = "{\"role\": \"assistant\", \"content\": \"so far \"}";
        String loop = "{% for m in messages %}<{{ m.content }}>{% endfor %}";

        assertThat(rendered(loop, body, message)).isEqualTo("<so far ");
        assertThat(rendered(loop.replace("m.content", "m.content|trim"), body, message))
                .isEqualTo("<so far");
        assertThat(rendered(
                        loop.replace("m.content", "m.content[0].text") + "{% for m in messages %}"
                                + "{% for p in m.content %}{% endfor %}{% endfor %}",
                        body,
                        message))
                .isEqualTo("<so far ");
        assertThatThrownBy(() -> rendered("{{ 1 }}", body, message))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("the final message does not appear in the chat");
    }

    @Test
    void exceptionOfTheTemplate_isTheClientsMistake() {
        assertThatThrownBy(() -> rendered("{{ raise_exception('Roles must alternate') }}", "{}"))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        failure -> assertThat(failure.status()).isEqualTo(400))
                .hasMessage("Roles must alternate");
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private String rendered(String setting, String body, String... messages) {
        var request = new JsonBody((com.fasterxml.jackson.databind.node.ObjectNode) Json.read(body));
        var given = java.util.Arrays.stream(messages)
                .map(message -> ChatMessage.read(
                        new JsonBody((com.fasterxml.jackson.databind.node.ObjectNode) Json.read(message)),
                        SmallMedia.reader(MediaProcessor.NONE)))
                .toList();
        var loaded = tokenizer.load();
        var template = new RenderedTemplate(
                ModelTemplate.read(setting, tokenizer), loaded, () -> LocalDateTime.of(2026, 1, 1, 0, 0));
        var prompt = template.render(ChatPrompt.read(request, given, ChatPrompt.tools(request)));
        return loaded.decode(new understudy.prompt.TokenIds(prompt.encode(loaded, Integer.MAX_VALUE)));
    }
}
