package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.report.ResultShape;

/** Keys and words of results, for each part that a scenario adds to them. */
final class ResultShapeTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "plain | conf/bench/w1.conf workload.requests=40",
                "sessions | conf/demo.conf workload.requests=200",
                "tiers | conf/tiers.conf workload.requests=100 kv-cache.num-gpu-blocks=500",
                "prefill-decode | conf/pd.conf workload.requests=60",
                "lora | conf/lora.conf workload.requests=60",
                "speculation | conf/speculation.conf workload.requests=30",
                "groups | conf/groups.conf workload.requests=60",
                "service-levels | conf/crash.conf workload.requests=200 report.timeline=5s",
                "fleet | conf/scaling/burst.conf workload.requests=800",
                "admission | conf/bench/w1.conf workload.requests=40 router.admission.rate-limit.rate=1",
                "token-times | conf/bench/w1.conf workload.requests=3 report.save-detailed=true",
                "roseinfer | conf/roseinfer/after.conf"
            })
    void run_keepsKeysAndWords(String name, String scenarioAndSettings) throws IOException {
        var words = scenarioAndSettings.split(" ");
        var options = Arrays.stream(words).skip(1).map(setting -> "--set=" + setting);
        var json = directory.resolve("report.json");
        var args = Stream.concat(
                Stream.of("run", words[0], "--json=" + json, "--out=" + directory.resolve("out")), options);
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();

        ResultShape.assertIsThatOf(
                "run-" + name,
                ResultShape.ofJson(Files.readString(json)) + "\n" + ResultShape.ofText(run.out) + "\n" + csvHeaders());
    }

    private String csvHeaders() throws IOException {
        try (var files = Files.list(directory.resolve("out"))) {
            return files.filter(file -> file.toString().endsWith(".csv"))
                    .sorted()
                    .map(ResultShapeTest::header)
                    .collect(Collectors.joining());
        }
    }

    private static String header(Path file) {
        try (var lines = Files.lines(file)) {
            return file.getFileName() + ": " + lines.findFirst().orElseThrow() + "\n";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void sweep_keepsKeysAndColumns() throws IOException {
        var json = directory.resolve("sweep.json");
        var run = call(
                "sweep",
                "conf/scaling/burst.conf",
                "--set=workload.requests=100",
                "--set=slo.ttft=1s",
                "--vary=cluster.replicas=2,3",
                "--seeds=2",
                "--json=" + json);
        assertThat(run.exitCode).as(run.err).isZero();

        ResultShape.assertIsThatOf(
                "sweep", ResultShape.ofJson(Files.readString(json)) + "\n" + ResultShape.ofText(run.out));
    }

    @Test
    void comparison_keepsKeysAndNames() throws IOException {
        var files = Stream.of("1", "2").map(this::result).toArray(String[]::new);
        var json = directory.resolve("comparison.json");
        var run = call("compare", files[0], files[1], "--json=" + json);
        assertThat(run.exitCode).as(run.err).isZero();

        ResultShape.assertIsThatOf(
                "compare",
                ResultShape.ofJson(Files.readString(json)) + "\n"
                        + ResultShape.ofText(run.out)
                        + run.out
                                .lines()
                                .filter(line -> line.startsWith("|"))
                                .map(line -> line.split("\\|", -1)[1].strip() + "\n")
                                .collect(Collectors.joining()));
    }

    private String result(String seed) {
        var file = directory.resolve("result-" + seed + ".json").toString();
        var run = call(
                "run",
                "conf/crash.conf",
                "--seed=" + seed,
                "--set=workload.requests=100",
                "--set=report.save-detailed=true",
                "--json=" + file);
        assertThat(run.exitCode).as(run.err).isZero();
        return file;
    }
}
