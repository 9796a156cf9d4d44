package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PlanCommandTest {
    /** 64 candidates of eight kinds. */
    private static final String PLAN = """
            plan {
              workload {
                requests = 600
                arrivals.request-rate = 80
                lengths { prompt { kind = fixed, mean = 700 }, output { kind = fixed, mean = 4 } }
              }
              slo.ttft.p99 = 200ms
              prices { h100 = 2.5, l40s = 0.9 }
              candidates {
                models = [llama-3.1-8b]
                gpus = [h100-sxm, l40s]
                tensor-parallel-sizes = [1, 2]
                kv-cache-dtypes = [auto, fp8]
                replicas = ["1..8"]
              }
              search { seeds = 1, min-requests = 50 }
            }
            """;

    @TempDir
    private Path directory;

    private CommandLineFixture plan(String... more) throws IOException {
        var file = Files.writeString(directory.resolve("plan.conf"), PLAN);
        var args = new ArrayList<>(List.of("plan", file.toString()));
        args.addAll(List.of(more));
        return call(args.toArray(String[]::new));
    }

    @Test
    void search_findsWhatAllRunsFind() throws IOException {
        var found = plan("--json", "-").json();
        var all = plan("--json", "-", "--exhaustive").json();

        assertThat(found.get("winner")).isEqualTo(all.get("winner"));
        assertThat(found.get("next_cheaper").get("cost_per_hour"))
                .isEqualTo(all.get("next_cheaper").get("cost_per_hour"));
        assertThat(all.at("/effort/emulated_requests").asLong()).isEqualTo(64 * 600);
        assertThat(found.at("/effort/emulated_requests").asLong()).isLessThan(64 * 600 / 2);
    }

    @Test
    void threadsAndInterruptions_changeNoByte() throws IOException {
        var whole = directory.resolve("whole");
        var broken = directory.resolve("broken");
        plan("--out", whole.toString(), "--jobs", "3");
        Files.createDirectories(broken);
        // As a kill leaves it: nine results, and half a line.
        var lines = Files.readAllLines(whole.resolve("points.jsonl"));
        Files.writeString(
                broken.resolve("points.jsonl"),
                String.join("\n", lines.subList(0, 10)) + "\n" + lines.get(10).substring(0, 30));

        plan("--out", broken.toString(), "--jobs", "1");

        assertThat(broken.resolve("plan.json")).hasSameTextualContentAs(whole.resolve("plan.json"));
        assertThat(Files.readAllLines(broken.resolve("points.jsonl"))).hasSameSizeAs(lines);
    }

    /** The winner's scenario gives the winner's figures. */
    @Test
    void winner_isAScenario() throws IOException {
        var file = directory.resolve("winner.conf");
        var json = plan("--json", "-", "--winner", file.toString()).json();

        var run = call("run", file.toString(), "--json", "-").json();

        assertThat(run.get("p99_ttft_ms")).isEqualTo(json.at("/winner/limits/0/worst"));
    }

    /** The files start the winner: as many servers, of its GPU. */
    @Test
    void emitted_isTheWinner() throws IOException {
        var folder = directory.resolve("files");
        var json = plan("--json", "-", "--emit", "compose", "--emit-dir", folder.toString())
                .json();

        var emitted = call("emit", folder.resolve("scenario.conf").toString());
        int numReplicas = json.at("/winner/settings/cluster.replicas").asInt();
        String gpu = json.at("/winner/settings/latency.gpu").asText();
        assertThat(numReplicas).isPositive();
        assertThat(emitted.out).containsPattern("# vllm: " + numReplicas + " servers? with \\d x " + gpu + "\n");
        assertThat(folder.resolve("compose.yaml")).content().contains("vllm-" + (numReplicas - 1) + ":\n");
    }

    /** Of an adopted server, whose GPUs hold so much. */
    @Test
    void sizeOfTheKvCache_isNotThatOfOtherGpus() throws IOException {
        var file = Files.writeString(directory.resolve("blocks.conf"), PLAN + "\nplan.candidates.gpus = [h100-sxm]\n");
        var scenario = Files.writeString(directory.resolve("adopted.conf"), "kv-cache.num-gpu-blocks = 11180\n");
        Files.writeString(file, "\nplan.scenario = \"" + scenario + "\"\n", StandardOpenOption.APPEND);

        var fixed = call("plan", file.toString(), "--requests", "60");
        var own = call("plan", file.toString(), "--requests", "60", "--set", "kv-cache.num-gpu-blocks=auto");

        assertThat(fixed.err)
                .contains("all candidates have kv-cache.num-gpu-blocks = 11180; --set kv-cache.num-gpu-blocks=auto"
                        + " takes what the GPUs of each hold");
        assertThat(own.err).doesNotContain("num-gpu-blocks");
    }

    @Test
    void formatThatThereIsNot_endsBeforeTheSearch() throws IOException {
        var result = plan("--emit", "helm");

        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.err).contains("--emit helm: must be one of commands, compose, kubernetes");
    }

    /** Weights of 70.55 billion parameters in 16 bits are 131 GiB. */
    @Test
    void whatDoesNotFit_isLeftOutWithTheArithmetic() throws IOException {
        var result = plan("--model", "llama-3.1-8b,llama-3.1-70b", "--gpus", "h100", "--tp", "1,4", "--requests", "60");

        assertThat(result.exitCode).isZero();
        assertThat(result.out)
                .contains("Left out: llama-3.1-70b h100 tp=1 kv=auto:")
                .containsPattern("does not fit on h100-sxm: \\d+\\.\\d\\d GiB usable - 131\\.\\d\\d GiB weights");
    }

    @Test
    void splits_areMultipliedAsAWhole() throws IOException {
        var file = Files.writeString(
                directory.resolve("split.conf"),
                PLAN.replace("kv-cache-dtypes = [auto, fp8]", "splits = [none, 1p2d]")
                        .replace("[h100-sxm, l40s]", "[h100-sxm]"));

        var json = call("plan", file.toString(), "--exhaustive", "--requests", "40", "--replicas", "2", "--json", "-")
                .json();

        // Twice one that computes prompts and two that answer, of two GPUs each.
        var split = json.get("tried").get(3);
        assertThat(split.get("candidate").asText()).isEqualTo("2 x h100-sxm tp=2 1p2d");
        assertThat(split.get("gpus").asInt()).isEqualTo(12);
        assertThat(split.get("cost_per_hour").asDouble()).isEqualTo(12 * 2.5);
    }

    @Test
    void options_areEnough() throws IOException {
        var page = directory.resolve("plan.html");
        String options = "plan --model llama-3.1-8b --gpus h100,l40s --rate 5 --input 200 --output 5 --requests 60"
                + " --ttft-p99 500ms --slo tpot.p90=100ms --price h100=2.5,l40s=0.9 --replicas 1,2 --seeds 2 --html "
                + page;
        var result = call(options.split(" "));

        assertThat(result.exitCode).as(result.err).isZero();
        assertThat(result.out)
                .startsWith("The cheapest that keeps the service level: 1 x l40s, 1 GPU, 0.90 an hour")
                .contains("over all seeds")
                .contains("No candidate is cheaper.");
        assertThat(page).content().contains("1 x l40s");
    }

    @Test
    void levelThatNothingKeeps_isAnExitCode() throws IOException {
        var result = plan("--ttft-p99", "1ms", "--replicas", "1");

        assertThat(result.exitCode).isEqualTo(3);
        assertThat(result.out).startsWith("No candidate keeps the service level.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "plan.candidates.gpu = [h100] | :1: unknown key plan.candidates.gpu; did you mean",
                "plan.workload.requets = 1 | :1: unknown key plan.workload.requets; did you mean",
                "plan.candidates.replicas = [\"0..4\"] | must be numbers from 1 to 10000, or ranges such as 1..16",
                "plan.slo.ttft.p99 = 500 | plan.slo.ttft.p99 is 500, must be off, or a duration from 0 to 720h",
                "plan.slo.ttft.p99 = 0ms | plan.slo.ttft.p99 is \"0ms\", must be above 0, or off",
                "plan.prices.h100 = free | plan.prices.h100 is \"free\", must be a number above 0",
                "plan.candidates.gpus = [a100] | plan.prices has none for a100-80g-sxm; set plan.prices.a100-80g-sxm",
                "plan.candidates.gpus = [h1000] | must be a GPU of 'understudy gpus'",
                "plan.candidates.tensor-parallel-sizes = [1, 3] | plan.candidates.tensor-parallel-sizes has 3:",
                "plan.candidates.routers = [magic] | plan.candidates.routers has magic:",
                "plan.candidates.splits = [2p] | plan.candidates.splits has \"2p\"; must be none, or such as 2p1d",
                "plan.candidates.vary { router.policy = [random] } | is what plan.candidates.routers is for",
                "plan.candidates.gpus = [h100, h100] | but a value is there twice",
                "plan.candidates { models = [llama-3.1-405b], gpus = [h100] } | no candidate fits:",
                "plan.search.eta = 1 | plan.search.eta is 1, must be from 2 to 100",
                "plan.scenario = none.conf | none.conf: no such file",
                "plan { slo.ttft.p99 = off } | plan.slo has no limit: set plan.slo.ttft.p99",
                "replicas = 4 | :1: unknown key replicas"
            })
    void mistake_isOneLine(String line, String message) throws IOException {
        var file = directory.resolve("bad.conf");
        Files.writeString(file, line + "\nplan { workload.requests = 20, prices.h100-sxm = 2 }\n");
        var args = new ArrayList<>(List.of("plan", file.toString(), "--seeds", "1"));
        if (!line.contains("slo.ttft")) {
            args.addAll(List.of("--ttft-p99", "1s"));
        }
        if (!line.contains("gpus")) {
            args.addAll(List.of("--gpus", "h100"));
        }
        var result = call(args.toArray(String[]::new));

        assertThat(result.exitCode).as(result.out).isEqualTo(2);
        assertThat(result.err).contains(message).hasLineCount(1);
    }
}
