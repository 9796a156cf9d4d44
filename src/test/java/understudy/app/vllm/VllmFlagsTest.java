package understudy.app.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.app.flags.Flag;
import understudy.app.flags.FlagArguments;
import understudy.settings.ScenarioException;

final class VllmFlagsTest {
    private static FlagArguments parse(String... words) {
        return VllmFlags.parse(List.of(words));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "m --max-model-len 8192",
                "m --max-model-len=8192",
                "m --max_model_len 8192",
                "m --max_model_len=8192",
                // argparse takes a beginning that no other flag has.
                "m --max-model-l 8192",
                "--max-model-len 8192 m",
                "--max-model-len 1 --max-model-len 8192 --model m",
                "m --max-model-len 8K" // 8 x 1024
            })
    void spellings_areAlike(String line) {
        var arguments = parse(line.split(" "));

        assertThat(arguments.last("max-model-len")).contains("8192");
        assertThat(VllmFlags.model(arguments, "")).isEqualTo("m");
        assertThat(arguments.warnings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"8k, 8000", "8K, 8192", "25.6k, 25600", "1M, 1048576", "1m, 1000000", "-1, auto", "auto, auto"})
    void size_isAsVllmReadsIt(String given, String plain) {
        assertThat(VllmSizes.plain("--max-model-len", given)).isEqualTo(plain);
    }

    @ParameterizedTest
    @ValueSource(strings = {"8x", "1.5K", "1.5", "-2", "k", "8 k"})
    void wrongSize_isAnError(String given) {
        assertThatThrownBy(() -> parse("m", "--max-model-len=" + given))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith("--max-model-len " + given + ": must be a whole number, such as 8192, 8k");
    }

    @ParameterizedTest
    @CsvSource({
        "--enable-prefix-caching, true",
        "--no-enable-prefix-caching, false",
        "--no_enable_prefix_caching, false",
        "--enable-prefix-caching=False, false",
        "--enable-prefix-caching false, false",
        "--no-enable-prefix-caching --enable-prefix-caching, true"
    })
    void switch_isOnOrOff(String line, String value) {
        assertThat(parse(line.split(" ")).last("enable-prefix-caching")).contains(value);
    }

    @Test
    void severalValues_goUpToTheNextFlag() {
        var arguments = parse("m", "--served-model-name", "a", "b/c", "--port", "1");

        assertThat(arguments.all("served-model-name")).containsExactly("a", "b/c");
        assertThat(arguments.last("port")).contains("1");
    }

    @Test
    void shortNames_areNames() {
        var arguments = parse("m", "-tp", "2", "-pp=3", "-dp", "4", "-q", "fp8");

        assertThat(arguments.last("tensor-parallel-size")).contains("2");
        assertThat(arguments.last("pipeline-parallel-size")).contains("3");
        assertThat(arguments.last("data-parallel-size")).contains("4");
        assertThat(arguments.last("quantization")).contains("fp8");
    }

    @Test
    void flagWithoutEffect_warnsOnce() {
        assertThat(parse("m", "--disable-custom-all-reduce", "--swap-space", "0", "--swap-space", "4")
                        .warnings())
                .containsExactly("--disable-custom-all-reduce has no effect here", "--swap-space has no effect here");
    }

    /** argparse's words, and the nearest flag. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "m --portt 24500           | --portt 24500 (did you mean --port?)",
                "m --port 1 --max_num_sqs=2 | --max_num_sqs=2 (did you mean --max-num-seqs?)",
                "m --no-shields --port 1 x | --no-shields x (did you mean",
                "m other/model             | other/model"
            })
    void unknownWords_endTheStart(String line, String message) {
        assertThatThrownBy(() -> parse(line.split(" ")))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith("vllm: error: unrecognized arguments: " + message);
    }

    @Test
    void beginningOfSeveralFlags_isAmbiguous() {
        assertThatThrownBy(() -> parse("m", "--ssl-c", "x"))
                .hasMessage("vllm serve: error: ambiguous option: --ssl-c could match --ssl-certfile, --ssl-ca-certs,"
                        + " --ssl-cert-reqs, --ssl-ciphers");
    }

    /** vLLM-Omni has flags of its own, of which there is no list here. */
    @Test
    void flagsOfOmni_warn() {
        var arguments = parse("Qwen/Qwen-Image", "--omni", "--usp", "2", "--port", "1");

        assertThat(VllmFlags.model(arguments, "")).isEqualTo("Qwen/Qwen-Image");
        assertThat(arguments.last("port")).contains("1");
        assertThat(arguments.warnings())
                .containsExactly(
                        "--omni has no effect here",
                        "--usp has no effect here: it is no flag of vLLM's, but may be one of vLLM-Omni; nor has 2");
    }

    @Test
    void missingValue_isAnError() {
        assertThatThrownBy(() -> parse("m", "--port", "--host", "h")).hasMessage("--port needs a value");
        assertThatThrownBy(() -> parse("m", "--port")).hasMessage("--port needs a value");
    }

    @Test
    void configFile_isWeakerThanTheCommandLine(@TempDir Path directory) throws IOException {
        var file = directory.resolve("c.yaml");
        Files.writeString(file, """
            model: from/file
            port: 1
            max_num_seqs: 64
            served-model-name: [a, b]
            enable-prefix-caching: false
            """);

        var arguments = parse("--port", "2", "--config", file.toString());

        assertThat(VllmFlags.model(arguments, "")).isEqualTo("from/file");
        assertThat(arguments.last("port")).contains("2");
        assertThat(arguments.last("max-num-seqs")).contains("64");
        assertThat(arguments.all("served-model-name")).containsExactly("a", "b");
        assertThat(arguments.last("enable-prefix-caching")).contains("false");
    }

    @Test
    void wrongConfigFile_isAnError(@TempDir Path directory) throws IOException {
        var list = Files.writeString(directory.resolve("l.yaml"), "- a\n");
        var broken = Files.writeString(directory.resolve("b.yaml"), "a: [1\n");

        assertThatThrownBy(() -> parse("--config", "no.yaml")).hasMessage("--config no.yaml: no such file");
        assertThatThrownBy(() -> parse("--config", list.toString()))
                .hasMessageEndingWith("not a map of flags and values");
        assertThatThrownBy(() -> parse("--config", broken.toString())).isInstanceOf(ScenarioException.class);
    }

    @Test
    void words_areAsAShellTakesThem() {
        assertThat(VllmWords.split("m --a='{\"k\": 1}'  --b \"x y\"\n-tp 2"))
                .containsExactly("m", "--a={\"k\": 1}", "--b", "x y", "-tp", "2");
    }

    @Test
    void flagTable_isRight() {
        assertThat(VllmFlags.TABLE.flags())
                .extracting(Flag::name)
                .doesNotHaveDuplicates()
                .hasSizeGreaterThan(100);
        assertThat(VllmHelp.text().lines()).allMatch(line -> line.length() <= 120);
    }
}
