package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.api.model.ModelSettings.AnswerMode;

/** The JavaScript clients that applications use; skipped where npm cannot install them. */
@Tag("slow")
final class NpmClientsTest {
    private static final List<String> PACKAGES = List.of(
            "openai@6.49.0",
            "zod@4",
            "ai@6.0.326",
            "@ai-sdk/openai@3.0.141",
            "@ai-sdk/openai-compatible@2.0.87",
            "@langchain/openai@1.5.8",
            "@langchain/core",
            "@openai/agents@0.20.0",
            "@anthropic-ai/sdk@1.12.0");

    @TempDir
    private static Path directory;

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @BeforeAll
    static void install() throws IOException, InterruptedException {
        assumeTrue(hasNpm(), "there is no npm");
        var install = new ArrayList<>(List.of("npm", "install", "--no-audit", "--no-fund", "--silent"));
        install.addAll(PACKAGES);
        assumeTrue(run("install.txt", install) == 0, "npm cannot install the clients");
    }

    /** Runs a script, and returns what it has seen. */
    private JsonNode seenBy(String script) throws IOException, InterruptedException {
        try (var source = NpmClientsTest.class.getResourceAsStream(script)) {
            Files.copy(source, directory.resolve(script));
        }
        // The stream that is given up after three chunks would last 9.5 s: a slow client is still in time.
        server.speed = 1;
        server.start();

        int exitCode = run("seen.txt", List.of("node", script, server.url()));

        String output = Files.readString(directory.resolve("seen.txt"));
        assertThat(exitCode).as(output).isZero();
        return new ObjectMapper()
                .readTree(output.lines().reduce((first, last) -> last).orElseThrow());
    }

    @Test
    void clients() throws IOException, InterruptedException {
        var seen = seenBy("npm-clients.mjs");

        for (String each : List.of(
                "openaiPlain",
                "openaiTree",
                "openaiResponses",
                "vercelPlain",
                "vercelStream",
                "langchainPlain",
                "langchainStream",
                "defaultPlain",
                "defaultSystem",
                "defaultToolResult")) {
            assertThat(seen.get(each).asBoolean()).as(each).isTrue();
        }
        checkDefaultOfVercel(seen);
        assertThat(seen.get("openaiUsage").asInt()).isBetween(1, 8);
        assertThat(seen.get("vercelUsage").asInt()).isBetween(1, 8);
        assertThat(seen.get("openaiError").toString()).isEqualTo("[400,\"BadRequestError\",true]");
        // The opening chunk and two tokens; the third one is broken.
        assertThat(seen.get("openaiMalformed").toString()).isEqualTo("[3,\"SyntaxError\"]");
        // What had arrived before is still handed out.
        assertThat(seen.get("openaiAborted").asInt()).isBetween(3, 500);
        var cached = new ArrayList<Integer>();
        seen.get("openaiCached").forEach(count -> cached.add(count.asInt()));
        assertThat(cached).hasSize(3).isSorted().doesNotHaveDuplicates();
        server.awaitMetric("vllm:request_success_total", "reason=\"abort\"", count -> count == 1);
    }

    /** {@code createOpenAI} of the Vercel AI SDK as it comes: it talks to /v1/responses, and goes on by references to items. */
    private static void checkDefaultOfVercel(JsonNode seen) {
        assertThat(seen.get("defaultUsage").get(0).asInt()).isBetween(1, 40);
        var turns = seen.get("defaultCached");
        int firstTokens = turns.get(0).asInt();
        // The second turn has the first one in it, and finds its full blocks of 16 tokens cached.
        assertThat(turns.get(1).asInt()).isGreaterThan(firstTokens);
        assertThat(turns.get(2).asInt()).isGreaterThanOrEqualTo(firstTokens / 16 * 16);
        assertThat(seen.get("defaultStream").get(0).asBoolean()).isTrue();
        assertThat(seen.get("defaultStream").get(1).asInt()).isBetween(1, 16);
        assertThat(seen.get("defaultTool")).hasToString("[\"weather\",\"string\"]");
        assertThat(seen.get("defaultToolStream")).hasToString("[\"weather\",\"tool-calls\"]");
        assertThat(seen.get("defaultError")).hasToString("[404,\"The model `unknown` does not exist.\"]");
    }

    /** SGLang's dialect, where usage tells what was cached only with {@code --enable-cache-report}. */
    @Test
    void openAi_onSglang() throws IOException, InterruptedException {
        server.moreSettings = """
            engine.kind = sglang
            kv-cache.num-gpu-blocks = auto
            engine.sglang.max-total-tokens = 16000
            server.sglang { enable-metrics = true, enable-cache-report = true }
            """;

        var seen = seenBy("npm-sglang.mjs");

        assertThat(seen.get("models")).hasToString("[\"m\"]");
        assertThat(seen.get("plain")).hasToString("[true,\"length\",8]");
        assertThat(seen.get("streamed")).hasToString("[true,8]");
        assertThat(seen.get("completion")).hasToString("[true,4]");
        assertThat(seen.get("parsed").asBoolean()).isTrue();
        assertThat(seen.get("tool").asText()).isEqualTo("weather");
        // The client looks for the words in a field that SGLang's errors do not have.
        assertThat(seen.get("error").asInt()).isEqualTo(400);
        assertThat(seen.get("aborted").asInt()).isBetween(3, 500);
        // The second turn finds the first one.
        assertThat(seen.get("cached").get(1).asInt())
                .isGreaterThan(seen.get("cached").get(0).asInt());
        server.awaitMetric("sglang:num_aborted_requests_total", "", count -> count == 1);
    }

    @Test
    void toolsAndStructuredAnswers() throws IOException, InterruptedException {
        var seen = seenBy("npm-tools.mjs");

        String called = "tool_call_item,tool_call_output_item,message_output_item";
        assertThat(seen.get("openaiHelper")).hasToString("[2,true]");
        assertThat(seen.get("openaiTools")).hasToString("[\"user,assistant,tool,assistant\",true]");
        assertThat(seen.get("openaiToolsStreamed")).hasToString("\"user,assistant,tool,assistant\"");
        assertThat(seen.get("openaiParsed").asBoolean()).isTrue();
        // Each loop calls a tool, then speaks.
        assertThat(seen.get("vercel-chat")).hasToString("[2,2,true,true]");
        assertThat(seen.get("vercel-responses")).hasToString("[2,2,true,true]");
        assertThat(seen.get("langchain")).hasToString("[\"weather\",\"string\",true,true]");
        assertThat(seen.get("agentsChat")).hasToString("[\"%s\",\"%s\",true]".formatted(called, called));
        assertThat(seen.get("agentsResponses")).hasToString("[\"%s\",\"%s\",true]".formatted(called, called));
    }

    @Test
    void messages() throws IOException, InterruptedException {
        // There is no field for how long an answer is to be.
        server.answers = AnswerMode.ECHO;

        var seen = seenBy("npm-messages.mjs");

        assertThat(seen.get("models")).hasToString("[\"m\"]");
        assertThat(seen.get("plain")).hasToString("[\"message\",\"assistant\",1,\"text\",\"end_turn\"]");
        assertThat(seen.get("plainText").asBoolean()).isTrue();
        assertThat(seen.get("stream")).hasToString("[\"message_start\",\"message_stop\",\"assistant\",true]");
        assertThat(seen.get("counted").asBoolean()).isTrue();
        assertThat(seen.get("runner")).hasToString("[\"tool_use\",\"tool_use\",\"end_turn\",\"text\"]");
        assertThat(seen.get("toolStream")).hasToString("[\"tool_use\",\"weather\",\"string\",true]");
        assertThat(seen.get("parsed").asBoolean()).isTrue();
        assertThat(seen.get("unknown")).hasToString("[\"NotFoundError\",404,\"NotFoundError\"]");
        assertThat(seen.get("hot")).hasToString("[\"BadRequestError\",400,\"BadRequestError\"]");
        assertThat(seen.get("none")).hasToString("[\"BadRequestError\",400,\"Bad Request\"]");
        assertThat(seen.get("aborted")).hasToString("\"APIUserAbortError\"");
        server.awaitMetric("vllm:request_success_total", "reason=\"abort\"", count -> count == 1);
    }

    private static boolean hasNpm() throws InterruptedException {
        try {
            return new ProcessBuilder("npm", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static int run(String output, List<String> command) throws IOException, InterruptedException {
        Files.writeString(directory.resolve("package.json"), "{\"private\": true}", StandardCharsets.UTF_8);
        var process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(output).toFile())
                .start();
        if (!process.waitFor(180, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return -1;
        }
        return process.exitValue();
    }
}
