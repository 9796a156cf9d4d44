package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;
import static understudy.app.CommandLineFixture.writeSmall;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is wrong with what the user gives is one clear line and exit code 2, and nothing is written. */
final class BadInputTest {
    @TempDir
    private Path directory;

    private String small;

    @BeforeEach
    void writeScenario() throws IOException {
        small = writeSmall(directory);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "engine.max-num-seq = 4 | :1: unknown key engine.max-num-seq; did you mean engine.max-num-seqs?",
                "replicas = 4 | :1: unknown key replicas; did you mean cluster.replicas?",
                "engine.max-num-seqs = 0 | :1: engine.max-num-seqs is 0, must be from 1 to 1000000",
                "engine.max-num-seqs = many | :1: engine.max-num-seqs is \"many\", must be a whole number from 1",
                "engine.max-num-seqs = [1] | :1: engine.max-num-seqs is [1], which is not the kind of value it takes",
                "engine = 5 | :1: engine is a section, and takes no value of its own",
                "seed { a = 1 } | :1: seed takes a single value, not a section",
                "engine { max-num-seqs = 1024, max-num-batched-tokens = 8 } | is 8, must be at least max-num-seqs,"
                        + " which is 1024",
                "engine { max-num-seqs = 4, max-num-active-seqs = 5 } | must be at most max-num-seqs, which is 4",
                "engine.known-bugs = [lost] | which vLLM has under these names: admission-stops,",
                "engine { kind = sglang, known-bugs = [admission-stops] } | engine.known-bugs is [admission-stops],"
                        + " which means nothing to engine.kind = sglang",
                "engine.performance-mode = fast | must be one of balanced, interactivity, throughput",
                "kv-cache.enable-prefix-caching = maybe | is \"maybe\", must be true, false or except-mamba",
                "engine.max-model-len = 999999999 | engine.max-model-len is 999999999",
                "engine.max-model-len = 5000000 | but the KV cache holds 462464 tokens",
                "engine { enable-chunked-prefill = false, max-num-batched-tokens = 4096 }"
                        + " | must be at least max-model-len, which is 131072",
                "engine.scheduling-policy = lifo | is \"lifo\", must be one of fcfs, priority",
                "latency.api-delay = 4 | must be a duration from 0 to 720h with a unit",
                "latency.api-delay = -4ms | must be a duration from 0 to 720h with a unit",
                "engine.full-hit = never | must be one of recompute-last-token, decode-directly",
                "engine.context-window-exceeded = cut | must be one of reject, truncate-oldest",
                "kv-cache.eviction-policy = mru | must be one of lru, lru-longest-prefix, lfu, fifo, s3fifo, arc",
                "kv-cache.sessions = simplified, engine.scheduler-reserve-full-isl = false | may preempt each other"
                        + " for ever",
                "kv-cache.sessions = maybe | must be one of off, simplified, detailed",
                "kv-cache.global-prefix-store.enabled = true | is true, but kv-cache.sessions is off",
                "kv-cache.global-prefix-store.min-uses = 0 | min-uses is 0, must be from 1",
                "kv-cache.sessions = detailed, router.policy = prefix-aware | router.policy = session-affinity keeps",
                "cluster.groups = [{ name = d, role = decode }] | and one compute prompts",
                "cluster.groups = [{ name = d, role = decode }, { name = b }] | of which none has the role prefill",
                "cluster.groups = [{ name = p, role = prefill }] | of which one must answer",
                "cluster.groups = [{ name = p, role = both-ways }] | must be one of both, prefill, decode",
                "kv-cache.tiers.host.tokens = 100, engine.kind = roseinfer | need engine.kind = vllm",
                "kv-cache.tiers.host.tokens = 100, kv-cache.sessions = detailed | need engine.kind = vllm",
                "kv-cache.tiers.host.gib = -1 | kv-cache.tiers.host.gib is -1",
                "kv-cache.tiers.host.bandwidth = 0 | kv-cache.tiers.host.bandwidth is 0",
                "kv-cache.tiers.host.blocks-per-chunk = 0 | blocks-per-chunk is 0, must be from 1",
                "kv-cache.transfer.bandwidth = -5 | kv-cache.transfer.bandwidth is -5",
                "kv-cache.transfer.bandwidth = 1e99 | kv-cache.transfer.bandwidth is 1.0E99, must be at most 1000000",
                "kv-cache.tiers.disk.read-bandwidth = 1000001 | is 1000001, must be at most 1000000",
                "kv-cache.transfer.notify = -1ms | must be a duration from 0 to 720h with a unit",
                "kv-cache.transfer.load-failure-policy = hope | must be one of fail, recompute",
                "kv-cache.transfer.stale-read = hope | must be one of fail, garbage",
                "router.disaggregation.uncached-tokens = -1 | uncached-tokens is -1",
                "router.policy = best | must be one of round-robin, least-outstanding, session-affinity, prefix-aware",
                "router.prefix-aware.cache-threshold = 2 | must be a number from 0.0 to 1.0",
                "workload { kind = mooncake, trace = \"\" } | workload.trace is \"\", but this kind of workload needs"
                        + " a file",
                "workload { kind = csv, trace = /nowhere } | workload.trace is \"/nowhere\", which does not exist",
                "workload.arrivals.request-rate = 0 | must be a number above 0, or inf",
                "workload.lengths.prompt.max = 0 | workload.lengths.prompt.max is 0, must be from 1",
                "workload.lengths.prompt { kind = lognormal, mean = 0 } | must be above 0 for lognormal",
                "workload.requests = 0 | workload.requests is 0, must be from 1",
                "workload.requests = 1.5 | workload.requests is 1.5, must be a whole number from 1",
                "workload.time-scale = inf | workload.time-scale is \"inf\", must be a number from",
                "workload.arrivals.request-rate = 1e-9 | so little that 1000 requests take more than three years",
                "workload.lengths.prompt { kind = fixed, mean = 7.5 } | prompt.mean is 7.5, must be a whole number"
                        + " from 1",
                "workload.prefix-groups.prompts-per-group = 5 | per-group is 5, but workload.prefix-groups.count is 0",
                "workload.prefix-groups.prompt-order = in-turn | which needs 1 to 10000000 prompts of all groups, not"
                        + " 0",
                "workload.prefix-groups { count = 1000, prompts-per-group = 100000, prompt-order = in-turn }"
                        + " | prompts of all groups, not 100000000",
                "workload.sessions.turns.kind = many | workload.sessions.turns.kind is \"many\", must be one of fixed",
                "latency.api-delay = 9999h | must be a duration from 0 to 720h",
                "kv-cache { block-size = 1, num-gpu-blocks = 2 } | which leaves no room for a request",
                "seed = ${nowhere} | :1: Could not resolve substitution to a value: ${nowhere}",
                "cluster.replica.number = 2 | :1: unknown key cluster.replica.number",
                "engine.prefill = serial | is \"serial\", which needs engine.kind = roseinfer",
                "engine.dedup = prompt | but engine.kind = vllm takes auto, off or blocks",
                "engine { kind = roseinfer, dedup = blocks } | but engine.kind = roseinfer takes auto, off or prompt",
                "kv-cache.enable-prefix-caching = false, engine.dedup = blocks"
                        + " | which needs kv-cache.enable-prefix-caching = true",
                "engine { kind = roseinfer, async-scheduling = false } | engine.async-scheduling is false, which means"
                        + " nothing",
                "engine { kind = roseinfer, max-num-batched-tokens = 64 } | means nothing to engine.kind = roseinfer",
                "engine.kind = roseinfer, router.policy = prefix-aware | but engine.kind = roseinfer publishes none",
                "engine.kind = roseinfer, kv-cache.num-gpu-blocks = 2 | is 2, must be from 3",
                "workload { kind = burst, burst.distinct-prompts = -1 } | burst.distinct-prompts is -1, must be from 0",
                "clock.speed = -1 | must be a number above 0, or max",
                "engine.lora.lora-modules = [{ name = sql }] | lora-modules is [{name=sql}], which is not the kind",
                "engine.lora.lora-modules = [sql, sql] | must be different names, each alone or as name=path",
                "engine.lora.load-time = soon | engine.lora.load-time is \"soon\", must be a duration",
                "kv-cache.tiers.disk.gib = [1] | kv-cache.tiers.disk.gib is [1], which is not the kind",
                "workload.servegen.rate-scale = [1] | workload.servegen.rate-scale is [1], which is not the kind",
                "latency.profiled.tables = [a] | latency.profiled.tables is [a], which is not the kind",
                "scaling.keda.threshold = [1] | scaling.keda.threshold is [1], which is not the kind",
                "kv-cache.kv-events.enable-kv-cache-events = 1 | events is 1, which is not the kind",
                "router.weighted-scorers.lora-affinity = [] | lora-affinity is [], which is not the kind",
                "server.prot = 8001 | :1: unknown key server.prot; did you mean server.port?",
                "server.port = 70000 | :1: server.port is 70000, must be from 0 to 65535",
                "server.answers = lorem | :1: server.answers is \"lorem\", must be one of",
                "server.warm-up-requests = -1 | :1: server.warm-up-requests is -1, must be from 0 to 1000000",
                "foo = 1 | :1: unknown key foo; known are clock, cluster, engine, faults, kv-cache, latency, report,",
                "engine { | :2: expecting a closing brace '}' here"
            })
    void badScenario_isOneClearLineAndExitTwo(String line, String problem) throws IOException {
        String file = write("bad.conf", line + "\n");
        var results = directory.resolve("results");

        var run = call("run", file, "--out", results.toString());

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).startsWith(file).contains(problem);
        assertThat(run.out).isEmpty();
        assertThat(results).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nonsense",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5}",
                "{\"timestamp\": 0, \"input_length\": -5, \"output_length\": 5, \"hash_ids\": [1]}"
            })
    void badTraceLine_isOneClearLineAndExitTwo(String line) throws IOException {
        String good = "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1]}\n";
        String trace = write("trace.jsonl", good.repeat(20) + line + "\n");
        String scenario = write("t.conf", "workload { kind = mooncake, trace = \"" + trace + "\" }");
        var results = directory.resolve("results");

        var run = call("run", scenario, "--out", results.toString());

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).startsWith(trace + ":21: ");
        assertThat(results).doesNotExist();
    }

    @Test
    void unknownKeyOnTheCommandLine_namesTheOption() {
        var run = call("run", small, "--set", "engine.max-num-sequences=4");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err)
                .isEqualTo("--set engine.max-num-sequences: unknown key engine.max-num-sequences;"
                        + " did you mean engine.max-num-seqs?\n");
    }

    @Test
    void unknownGroupOnTheCommandLine_isNamed() {
        var run = call("run", "conf/pd.conf", "--set", "cluster.groups.decoder.replicas=1");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err)
                .isEqualTo("--set cluster.groups.decoder.replicas: must be cluster.groups.NAME.KEY;"
                        + " the groups are prefill, decode\n");
    }

    @Test
    void defaultThatDoesNotDo_isNamedByItsKey() {
        var run = call("run", small, "--set", "workload.kind=azure");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err)
                .isEqualTo(
                        "workload.trace is \"\", but this kind of workload needs a file: --set workload.trace=PATH\n");
    }

    @Test
    void missingScenario_isReported() {
        var run = call("run", "nowhere.conf");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).isEqualTo("nowhere.conf: no such file\n");
    }

    @Test
    void placesThatCannotBeWritten_areReportedBeforeTheRun() throws IOException {
        String file = write("file", "");

        assertThat(call("run", small, "--out", file).err).isEqualTo("--out " + file + ": not a directory\n");
        assertThat(call("run", small, "--json", "/nowhere/x.json").err)
                .isEqualTo("--json /nowhere/x.json: no such directory\n");
        assertThat(call("run", small, "--json", directory.toString()).err).contains("is a directory");
        assertThat(call("run", small, "--json", "").err).isEqualTo("--json: needs a name\n");
        assertThat(call("run", small, "--out", "").err).isEqualTo("--out: needs a name\n");
        assertThat(call("run", small, "--out", file + "/a/b").err)
                .isEqualTo("--out " + file + "/a/b: " + file + " is not a directory\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--html", "--trace"})
    void badPathOfAPage_isNamedBeforeTheRun(String option) {
        assertThat(call("run", small, option, "/nowhere/x").err).isEqualTo(option + " /nowhere/x: no such directory\n");
        assertThat(call("run", small, option, directory.toString()).err).contains("is a directory");
        var both = call("run", small, option, directory.resolve("x").toString(), "--json", directory + "/x");
        assertThat(both.err).isEqualTo("--json, --html, --trace: two of them are to go to the same file\n");
        assertThat(both.exitCode).isEqualTo(2);
        assertThat(both.out).isEmpty();
    }

    @Test
    void misuse_pointsToTheHelp() {
        var run = call("run", small, "--sed", "4");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).contains("Unknown options: '--sed'").contains("try 'understudy run --help'");
        assertThat(call("serve", "--prot", "1").err).contains("'--prot' (did you mean --port?)");
        assertThat(call("serve", "--prot=1").err).contains("'--prot=1' (did you mean --port?)");
        assertThat(call("serve", "--nothing-like-it").err).doesNotContain("did you mean");
        assertThat(call("version").err).contains("(did you mean --version?)");
        assertThat(call("run", small, "--set", "seed").err).startsWith("Value for option '--set' (KEY=VALUE)");
        assertThat(call("run").err).contains("Missing required parameter");
        assertThat(call("runn").err).contains("(did you mean run?)").contains("try 'understudy --help'");
    }

    @Test
    void optionThatIsShortForASetting_isNamedAsItWasTyped() {
        assertThat(call("serve", "--port", "70000").err)
                .isEqualTo("--port: server.port is \"70000\", must be from 0 to 65535\n");
        assertThat(call("serve", "--set", "server.port=70000").err).startsWith("--set server.port: server.port is");
        assertThat(call("bench", "http://127.0.0.1:1", "--request-rate", "-3").err)
                .isEqualTo(
                        "--request-rate: workload.arrivals.request-rate is \"-3\", must be a number above 0, or inf\n");
    }

    @Test
    void certificateWithoutItsKey_isTheOneThatIsNamed() throws IOException {
        String file = write("a.pem", "");

        assertThat(call("serve", "--set", "server.tls-certfile=" + file).err)
                .isEqualTo("--set server.tls-certfile: server.tls-certfile is \"" + file
                        + "\", which needs server.tls-keyfile, too\n");
        assertThat(call("vllm", "serve", "Qwen/Qwen3-8B", "--ssl-certfile", file).err)
                .endsWith("--ssl-certfile: server.tls-certfile is \"" + file + "\", which needs --ssl-keyfile, too\n");
    }

    @Test
    void countOfGpus_hasExamplesOfItsSize() {
        assertThat(call("vllm", "serve", "X", "--tensor-parallel-size", "two").err)
                .isEqualTo("--tensor-parallel-size two: must be a whole number, such as 1 or 8\n");
        assertThat(call("vllm", "serve", "X", "--max-model-len", "long").err).contains("8k (8000), 8K (8192)");
    }

    @Test
    void traceWithoutRequests_isRefused() throws IOException {
        String trace = write("empty.csv", "arrival_s,input_toks,output_toks\n");

        var run = call("run", small, "--set", "workload.kind=csv", "--set", "workload.trace=" + trace, "--dry-run");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).isEqualTo(trace + ": the trace has no requests\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[{at = 1s, do = crash}]             | --set faults.plan:1: faults.plan: replica is missing",
                "[{at = 1s, do = crash, replica = 9}] | at 1.0 s: there is no replica 9, only 0 to 1",
                "[{do = add}]                        | faults.plan: at is missing",
                "hello                               | faults.plan is \"hello\", which is not the kind of value it"
                        + " takes",
            })
    void badFault_isOneLine(String plan, String message) {
        var run = call("run", small, "--set", "faults.plan=" + plan);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(message).hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "endpoint=ipc:///tmp/x       | has no port to count up from for replica 1",
                "replay-endpoint=tcp://*:65535 | leaves no port for replica 1",
                "format=cbor                 | must be one of map, array",
                "hwm=0                       | must be from 1 to 2147483647",
            })
    void badKvEventSetting_isOneLine(String setting, String message) {
        var run = call("run", small, "--dry-run", "--set", "kv-cache.kv-events." + setting);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(message).hasLineCount(1);
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
