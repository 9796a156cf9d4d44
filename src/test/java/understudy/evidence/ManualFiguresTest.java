package understudy.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.TestData;

/**
 * Figures of the manual against the runs that it names, where a run takes seconds and needs no data of others. The one that
 * takes minutes is made with {@code -Dunderstudy.data=DIR -Dunderstudy.long-runs=true}. A failure prints the line as it must
 * be.
 */
final class ManualFiguresTest {
    private static final Path MANUAL = Path.of("src/site/markdown");
    private static final Pattern FIGURE = Pattern.compile("\\{([a-z0-9_]+)(/1000)?:([,0-9])\\}");
    private static final String CRASH = "conf/crash.conf faults.on-crash=";
    private static final String TIERS = "conf/tiers.conf";
    private static final String THIRD = "conf/questions/third-of-fleet.conf";
    private static final String ENGINES = "conf/questions/vllm-or-sglang.conf";
    private static final String CHAT = "conf/routing/chat.conf workload.requests=12800"
            + " workload.arrivals.request-rate=16 router.policy=ttft-estimate slo.ttft=1s";
    private static final String RANKS = "conf/validation/rtx-pro-6000-qwen3-30b-a3b-dp2-ep.conf workload.kind=generated"
            + " workload.requests=2000 workload.arrivals.request-rate=20";
    private static final String STAGES =
            "conf/demo.conf cluster.replicas=1 latency.llm=llama-3.3-70b latency.gpu=h200-sxm latency.dtype=fp8"
                    + " workload.requests=1000 workload.sessions.turns.mean=1 workload.sessions.turns.max=1"
                    + " workload.arrivals.request-rate=inf workload.max-concurrency=64 latency.pipeline-parallel-size=";

    /** A line of a page, with figures in braces, and the scenario and settings whose run has them. */
    private record Row(String page, String line, String run) {
        @Override
        public String toString() {
            return page + ": " + run;
        }
    }

    static Stream<Row> rows() {
        return Stream.of(
                row(
                        "disaggregation",
                        "| with roles | {mean_ttft_ms:1} | {mean_tpot_ms:2} | {p99_itl_ms:1} |",
                        "conf/pd.conf"),
                row(
                        "disaggregation",
                        "| without | {mean_ttft_ms:1} | {mean_tpot_ms:2} | {p99_itl_ms:1} |",
                        "conf/pd.conf cluster.groups=[] cluster.replicas=4"),
                tiers("`kv-cache.tiers.host.gib=0`", "kv-cache.tiers.host.gib=0"),
                tiers("(64 GiB)", ""),
                tiers("`kv-cache.tiers.host.gib=4`", "kv-cache.tiers.host.gib=4"),
                tiers("the same, `kv-cache.tiers.disk.gib=64`", "kv-cache.tiers.host.gib=4 kv-cache.tiers.disk.gib=64"),
                tiers(
                        "`host.gib=4`, `store.gib=128`, `router.policy=round-robin`",
                        "kv-cache.tiers.host.gib=4 kv-cache.tiers.store.gib=128 router.policy=round-robin"),
                tiers(
                        "`kv-cache.tiers.host.bandwidth=4`, `bandwidth-both-ways=4`",
                        "kv-cache.tiers.host.bandwidth=4 kv-cache.tiers.host.bandwidth-both-ways=4"),
                row(
                        "scenarios",
                        "| K = 3, 2.25 tokens per verification | {mean_tpot_ms:2} ms | {mean_itl_ms:2} ms |"
                                + " {mean_ttft_ms:1} ms |",
                        "conf/speculation.conf"),
                row(
                        "scenarios",
                        "| `--set engine.speculative.method=none` | {mean_tpot_ms:2} ms | {mean_itl_ms:2} ms |"
                                + " {mean_ttft_ms:1} ms |",
                        "conf/speculation.conf engine.speculative.method=none"),
                ranks("`data-parallel-size = 2`, `enable-expert-parallel`", ""),
                ranks("`engine.prefill-schedule-interval = 4` besides", " engine.prefill-schedule-interval=4"),
                ranks(
                        "two replicas by themselves",
                        " latency.data-parallel-size=1 latency.enable-expert-parallel=false"),
                stages("4 stages", "4"),
                stages("2 stages of 2 GPUs", "2 latency.tensor-parallel-size=2"),
                stages("4 GPUs share each layer", "1 latency.tensor-parallel-size=4"),
                crash("fail"),
                crash("reroute"),
                crash("resume"),
                row("routing", "| defaults |" + wire(2), wired("")),
                row("routing", "| `kv-event-loss=0.3` |" + wire(1), wired("router.wire.kv-event-loss=0.3")),
                row("questions", engine("vLLM"), ENGINES),
                row("questions", engine("SGLang"), ENGINES + " engine.kind=sglang"),
                row("questions", third("`on-crash = reroute`"), THIRD),
                row("questions", third("`on-crash = resume`"), THIRD + " faults.on-crash=resume"),
                row(
                        "questions",
                        third("`reroute`, and the router holds requests back"),
                        THIRD + " router.admission.saturation.max-waiting=5 router.admission.queue.max-wait=2s"));
    }

    private static Row row(String page, String line, String run) {
        return new Row(page + ".md", line, run.strip());
    }

    private static Row tiers(String name, String settings) {
        return row(
                "disaggregation",
                "| " + name + " | {mean_ttft_ms:1} | {p99_ttft_ms:0} | {computed_percent:1} |",
                TIERS + " " + settings);
    }

    private static Row ranks(String name, String settings) {
        return row("scenarios", "| " + name + " | {mean_ttft_ms:0} ms | {mean_tpot_ms:1} ms |", RANKS + settings);
    }

    private static Row stages(String name, String settings) {
        return row(
                "scenarios",
                "| " + name + " | {mean_ttft_ms:0} ms | {mean_tpot_ms:1} ms | {request_throughput:1} |",
                STAGES + settings);
    }

    private static Row crash(String what) {
        return row(
                "routing",
                "| `" + what + "` | {failed:0} | {completed:,} | {good:,} | {p99_ttft_ms:,} ms | {p99_itl_ms:0} ms |",
                CRASH + what);
    }

    private static String wire(int digits) {
        return " {hit_percent:1} % | {mean_ttft_ms/1000:2} s | {p99_ttft_ms/1000:" + digits + "} s |";
    }

    private static String wired(String setting) {
        return "conf/routing/kv-cache-wins.conf workload.arrivals.request-rate=20 " + setting;
    }

    private static String engine(String name) {
        return "| " + name
                + " | {mean_ttft_ms:0} | {p99_ttft_ms:0} | {mean_tpot_ms:1} | {p95_itl_ms:0} | {p99_itl_ms:0} |"
                + " {hit_percent:1} % |";
    }

    private static String third(String name) {
        return "| " + name + " | {good:,} | {failed:0} | {rejected:,} | {mean_ttft_ms/1000:1} | {p99_ttft_ms/1000:1} |";
    }

    @ParameterizedTest
    @MethodSource("rows")
    void row_isThatOfItsRun(Row row) throws IOException {
        String line = filled(row.line, report(row.run));
        String name = line.substring(0, line.indexOf('|', 1));

        assertThat(Files.readAllLines(MANUAL.resolve(row.page)))
                .filteredOn(each -> each.startsWith(name))
                .as(line)
                .anyMatch(each -> each.startsWith(line));
    }

    /** Gains by a single setting stand side by side: without it, and with it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "the same: P99 TTFT of those answered | {p99_ttft_ms/1000:1} s | {p99_ttft_ms/1000:2} s",
                "a limit of 1 s for the TTFT, A: good requests per second | {request_goodput:2} | {request_goodput:2}"
            })
    void gainOfALimit_isThatOfItsRuns(String what, String without, String with) throws IOException {
        String line = "| " + what + " | " + filled(without, report(CHAT)) + " | "
                + filled(with, report(CHAT + " router.admission.ttft-limit=slo")) + " |";

        assertThat(Files.readAllLines(MANUAL.resolve("routing.md"))).contains(line);
    }

    /** What a command of the manual prints, as far as it stands there. */
    @ParameterizedTest
    @CsvSource({
        "routing.md, run conf/demo.conf --explain-routing 4",
        "routing.md, run conf/groups.conf",
        "routing.md, run conf/crash.conf --set faults.on-crash=resume",
        "routing.md, run conf/demo.conf --json report.json --set router.admission.rate-limit.rate=20"
                + " --set router.admission.rate-limit.burst=10",
        "scenarios.md, run conf/demo.conf --set router.polcy=x"
    })
    void block_isWhatTheCommandPrints(String page, String command) throws IOException {
        var words = new ArrayList<>(List.of(command.split(" ")));
        int json = words.indexOf("--json");
        if (json >= 0) {
            words.subList(json, json + 2).clear(); // a file of the reader's
        }

        var run = call(words.toArray(String[]::new));

        var shown = shown(page, "$ understudy " + command);
        assertThat(shown).isNotEmpty();
        assertThat((run.out + run.err).lines().map(ManualFiguresTest::withSingleBlanks))
                .containsAll(shown);
    }

    /** The production day takes minutes. */
    @Test
    void productionDay_isThatOfItsRun() throws IOException {
        assumeTrue(Boolean.getBoolean("understudy.long-runs"), "takes minutes");
        var archive = TestData.require("servegen/deepseek-r1.tar.gz");
        var report = report("conf/servegen.conf workload.trace=" + archive);

        String sentence = filled(
                "{completed:,} requests, as many as the rates of the source stand for in each of the 144 windows, and"
                        + " {total_output_tokens_billions:2} billion tokens of answers. A KEDA rule on running requests"
                        + " keeps 5 to {max_replicas:0} replicas of eight B200, 99 of 100 first tokens come within"
                        + " {p99_ttft_ms/1000:1} s, and {good_percent:2} % within 5 s.",
                report);
        assertThat(Files.readString(MANUAL.resolve("traces.md")).replaceAll("\\s+", " "))
                .contains(sentence);
    }

    /** Returns the lines behind a command and any other ones up to the end of its block, or to the next command. */
    private static List<String> shown(String page, String command) throws IOException {
        String text = Files.readString(MANUAL.resolve(page)).replaceAll("\\\\\\n\\s*", "");
        int end = text.indexOf("\n", text.indexOf(command));
        assertThat(text).contains(command);
        String block = text.substring(end, text.indexOf("```", end));
        return block.replaceFirst("(?s)\n\\$ .*", "")
                .lines()
                .map(ManualFiguresTest::withSingleBlanks)
                .filter(line -> !line.isEmpty() && !line.equals("…"))
                .toList();
    }

    private static String withSingleBlanks(String line) {
        return line.strip().replaceAll("\\s+", " ");
    }

    private static JsonNode report(String run) throws IOException {
        var words = run.split(" ", -1);
        var args = new ArrayList<>(List.of("run", words[0], "--json", "-"));
        for (int i = 1; i < words.length; i++) {
            args.addAll(List.of("--set", words[i]));
        }
        var called = call(args.toArray(String[]::new));
        assertThat(called.exitCode).as(called.err).isZero();
        return called.json();
    }

    private static String filled(String line, JsonNode report) {
        return FIGURE.matcher(line).replaceAll(match -> {
            double value = figure(match.group(1), report) / (match.group(2) == null ? 1 : 1000);
            String digits = match.group(3);
            return String.format(Locale.ROOT, digits.equals(",") ? "%,.0f" : "%." + digits + "f", value);
        });
    }

    private static double figure(String name, JsonNode report) {
        return switch (name) {
            case "good" ->
                report.get("request_goodput").asDouble()
                        * report.get("duration").asDouble();
            case "good_percent" ->
                100
                        * report.get("request_goodput").asDouble()
                        / report.get("request_throughput").asDouble();
            case "hit_percent" ->
                100.0
                        * report.get("prefix_cache_hits").asLong()
                        / report.get("prefix_cache_queries").asLong();
            case "computed_percent" -> {
                var sources = report.get("kv_transfers");
                double computed = sources == null
                        ? report.get("total_input_tokens").asLong()
                                - report.get("prefix_cache_hits").asLong()
                        : sources.get("prompt_tokens_by_source")
                                .get("local_compute")
                                .asLong();
                yield 100 * computed / report.get("total_input_tokens").asLong();
            }
            case "total_output_tokens_billions" ->
                report.get("total_output_tokens").asLong() / 1e9;
            case "max_replicas" -> report.get("fleet").get("max_replicas").asInt();
            default -> report.get(name).asDouble();
        };
    }
}
