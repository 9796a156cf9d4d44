package understudy.workload.agentic;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import understudy.settings.Defaults;
import understudy.settings.Section;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;
import understudy.workload.kind.WorkloadSettings;

/** Sessions of agents in a block size of 64 tokens, made for tests. */
final class Sessions {
    private Sessions() {}

    /** Returns a session with these requests; tools and system prompt have 128 tokens. */
    static String session(String... requests) {
        return "{\"id\":\"s\",\"block_size\":64,\"hash_id_scope\":\"local\",\"tool_tokens\":100,\"system_tokens\":28,"
                + "\"requests\":[" + String.join(",", requests) + "],\"totals\":{}}";
    }

    /** Returns a request whose answer takes a second. */
    static String request(
            double atSeconds, double thinkSeconds, int numPromptTokens, int numOutputTokens, long... ids) {
        var all = LongStream.of(ids).mapToObj(Long::toString).collect(Collectors.joining(","));
        return "{\"t\":" + atSeconds + ",\"type\":\"n\",\"in\":" + numPromptTokens + ",\"out\":" + numOutputTokens
                + ",\"hash_ids\":[" + all + "],\"stop\":\"\",\"api_time\":1.0,\"think_time\":" + thinkSeconds + "}";
    }

    static String subAgent(double atSeconds, String... requests) {
        return "{\"t\":" + atSeconds + ",\"type\":\"subagent\",\"agent_id\":\"a\",\"duration_ms\":null,\"requests\":["
                + String.join(",", requests) + "],\"tool_tokens\":64,\"system_tokens\":0}";
    }

    /** Returns the session of two turns that most tests play: 128 and 192 tokens, ten seconds apart. */
    static String twoTurns() {
        return session(request(0, 0, 128, 8, 1, 2), request(11, 10, 192, 9, 1, 2, 3));
    }

    /** Opens the sessions of a folder or file with settings of {@code workload.agentic}, each as {@code lanes = 2}. */
    static Workload open(Path path, String... settings) {
        var changes = Section.of("kind = agentic\nagentic {\n" + String.join("\n", settings) + "\n}");
        var trace = Section.of(Map.of("trace", path.toString()));
        var workload = changes.withFallback(trace).withFallback(Defaults.SCENARIO.section("workload"));
        return new WorkloadSettings(workload.at("workload"), () -> text -> new int[0])
                .source(new RandomStreams(1), 1_000_000)
                .open();
    }

    static Path write(Path folder, String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text, StandardCharsets.UTF_8);
    }
}
