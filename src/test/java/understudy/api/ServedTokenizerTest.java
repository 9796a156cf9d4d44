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

/** A server with a model's own tokenizer. */
final class ServedTokenizerTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @TempDir
    private Path folder;

    @Test
    void tokens_areTheModels() throws IOException {
        start(SmallTokenizer.write(folder));

        assertThat(server.post("/tokenize", "{\"prompt\": \"hello\"}").json().get("tokens"))
                .hasToString("[260,259]");
        assertThat(server.post("/tokenize", "{\"prompt\": \"hello\", \"add_special_tokens\": false}")
                        .json()
                        .get("tokens"))
                .hasToString("[259]");
        assertThat(server.post("/detokenize", "{\"tokens\": [259, 32, 256]}")
                        .json()
                        .get("prompt")
                        .asText())
                .isEqualTo("hello he");
    }

    /** 16 times hello and a space: 32 tokens behind the first one; the same ids hit two blocks of 16. */
    @Test
    void textAndIds_areTheSamePrompt() throws IOException {
        start(SmallTokenizer.write(folder));
        var ids = "260," + "259,32,".repeat(16) + "65";

        var first = server.post("/v1/completions", "{\"prompt\": \"" + "hello ".repeat(16) + "A\", \"max_tokens\": 3}");
        var second = server.post("/v1/completions", "{\"prompt\": [" + ids + "], \"max_tokens\": 3}");

        assertThat(first.json().at("/usage/prompt_tokens").asInt()).isEqualTo(34);
        assertThat(second.json()
                        .at("/usage/prompt_tokens_details/cached_tokens")
                        .asInt())
                .isEqualTo(32);
    }

    @Test
    void chat_isStreamed() throws IOException {
        start(SmallTokenizer.write(folder));

        var reply = server.post(
                "/v1/chat/completions",
                "{\"stream\": true, \"max_tokens\": 8, \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}");

        assertThat(reply.isDone()).isTrue();
    }

    @Test
    void brokenFile_isRefusedAtTheStart() throws IOException {
        var file = Files.writeString(folder.resolve("tokenizer.json"), "{");

        assertThatThrownBy(() -> start(file))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("server.tokenizer is")
                .hasMessageContaining("which is not JSON");
    }

    private void start(Path file) {
        server.moreSettings = "server.tokenizer = \"" + file + "\"";
        server.start();
    }
}
