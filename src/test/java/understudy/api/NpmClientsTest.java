package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JavaScript clients that applications use; skipped where npm cannot install them. */
@Tag("slow")
final class NpmClientsTest {
    private static final List<String> PACKAGES = List.of(
            "openai@6.49.0",
            "ai@6.0.326",
            "@ai-sdk/openai-compatible@2.0.87",
            "@langchain/openai@1.5.8",
            "@langchain/core");
    private static final String SCRIPT = "npm-clients.mjs";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @TempDir
    private Path directory;

    @Test
    void scriptedRun() throws IOException, InterruptedException {
        assumeTrue(hasNpm(), "there is no npm");
        var install = new ArrayList<>(List.of("npm", "install", "--no-audit", "--no-fund", "--silent"));
        install.addAll(PACKAGES);
        assumeTrue(run("install.txt", install) == 0, "npm cannot install the clients");
        try (var script = NpmClientsTest.class.getResourceAsStream(SCRIPT)) {
            Files.copy(script, directory.resolve(SCRIPT));
        }
        server.start();

        int exitCode = run("seen.txt", List.of("node", SCRIPT, server.url()));

        String output = Files.readString(directory.resolve("seen.txt"));
        assertThat(exitCode).as(output).isZero();
        var seen = new ObjectMapper()
                .readTree(output.lines().reduce((first, last) -> last).orElseThrow());
        for (String each : List.of(
                "openaiPlain", "openaiResponses", "vercelPlain", "vercelStream", "langchainPlain", "langchainStream")) {
            assertThat(seen.get(each).asBoolean()).as(each).isTrue();
        }
        assertThat(seen.get("openaiUsage").asInt()).isBetween(1, 8);
        assertThat(seen.get("vercelUsage").asInt()).isBetween(1, 8);
        assertThat(seen.get("openaiError").toString()).isEqualTo("[400,\"BadRequestError\",true]");
        // What had arrived before is still handed out.
        assertThat(seen.get("openaiAborted").asInt()).isBetween(3, 500);
        var cached = new ArrayList<Integer>();
        seen.get("openaiCached").forEach(count -> cached.add(count.asInt()));
        assertThat(cached).hasSize(3).isSorted().doesNotHaveDuplicates();
        server.awaitMetric("vllm:request_success_total", "reason=\"abort\"", count -> count == 1);
    }

    private static boolean hasNpm() throws InterruptedException {
        try {
            return new ProcessBuilder("npm", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private int run(String output, List<String> command) throws IOException, InterruptedException {
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
