package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;

final class DescribeCommandTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "mooncake | {'timestamp': 0, 'input_length': 5, 'output_length': 5, 'hash_ids': [1]}",
                "qwen-bailian | {'chat_id': 1, 'parent_chat_id': -1, 'timestamp': 0, 'input_length': 5, 'output_length': 5,"
                        + " 'turn': 1, 'hash_ids': [1]}",
                "understudy | {'format': 'understudy-trace', 'version': 1, 'block_size': 16}~"
                        + "{'time': 0, 'input_length': 5, 'output_length': 5}",
                "csv | arrival_s,input_toks,output_toks~0,5,5",
                "azure | TIMESTAMP,ContextTokens,GeneratedTokens~2024-05-10 00:00:00+00:00,5,5",
                "burstgpt | Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type~0,m,5,5,10,API log",
                "vllm-bench | {'request_rate': 1.0, 'input_lens': [5], 'output_lens': [5]}",
            })
    void format_isThatOfTheFile(String format, String text) throws IOException {
        var file = Files.writeString(
                directory.resolve("t"), text.replace('\'', '"').replace("~", "\n") + "\n");

        var found = call("describe", file.toString(), "--json", "-");
        var named = call("describe", file.toString(), "--json", "-", "--format", format);

        assertThat(found.exitCode).as(found.err).isZero();
        assertThat(found.json().get("format").asText()).isEqualTo(format);
        assertThat(found.json().at("/prompt_tokens/sum").asInt()).isEqualTo(5);
        assertThat(named.out).isEqualTo(found.out);
    }

    @Test
    void service_isDescribedFromItsDirectory() throws IOException {
        Files.writeString(directory.resolve("chunk-1-trace.csv"), "0,0.5,1,Gamma,1,1\n");
        Files.writeString(
                directory.resolve("chunk-1-dataset.json"),
                "{\"0\": {\"input_tokens\": \"{10: 1.0}\", \"output_tokens\": \"{20: 1.0}\"}}");

        // 0.5 per second for 600 s.
        assertThat(call("describe", directory.toString()).out)
                .contains("(servegen)", "300 requests", "3,000 prompt tokens, 6,000 output tokens", "1 tenants");
    }

    /** The counts of the public sessions, and the hits of an infinite cache: 14,482,859 of 15,097,287 blocks. */
    @Test
    void sessionsOfAgents_areDescribed() throws IOException {
        String directory = TestData.require("agentic/sessions").toString();
        var described = call("describe", directory, "--json", "-").json();

        assertThat(described.get("requests").asInt()).isEqualTo(7_953);
        assertThat(described.at("/prompt_tokens/sum").asLong()).isEqualTo(966_479_746);
        assertThat(described.at("/output_tokens/sum").asLong()).isEqualTo(3_749_615);
        assertThat(described.at("/content/block_accesses").asLong()).isEqualTo(15_097_287);
        assertThat(described.at("/content/reused_accesses").asLong()).isEqualTo(14_482_859);
        assertThat(described.at("/sessions/turns/count").asInt()).isEqualTo(97);
    }

    @Test
    void mooncake_hasTheHitRateOfAReplay() throws IOException {
        String file = TestData.require("traces/conversation_trace.jsonl").toString();

        var described = call("describe", file, "--json", "-").json();
        var replayed =
                call("replay", file, "--policy", "infinite", "--json", "-").json();

        assertThat(described.get("requests").asInt()).isEqualTo(12_031);
        assertThat(described.at("/prompt_tokens/sum").asLong()).isEqualTo(144_793_823);
        assertThat(described.at("/output_tokens/sum").asLong()).isEqualTo(4_122_048);
        assertThat(described.at("/content/infinite_cache_hit_rate").asDouble())
                .isCloseTo(replayed.at("/runs/0/overall_hit_rate").asDouble(), within(1e-9));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "hello | looks like no format of traces; say which it is by --format",
                "arrival_s,input_toks,output_toks | the trace has no requests",
                "{\"timestamp\": 0, \"hash_ids\": 3} | :1: hash_ids is not a list of whole numbers"
            })
    void unusableTrace_isReported(String text, String problem) throws IOException {
        var file = Files.writeString(directory.resolve("t"), text + "\n");
        var run = call("describe", file.toString());

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains(file.toString()).contains(problem);
    }

    @Test
    void unknownFormat_isReported() {
        assertThat(call("describe", "x", "--format", "parquet").err)
                .contains("--format parquet: must be one of mooncake, qwen-bailian, understudy");
        assertThat(call("describe", "nowhere.jsonl").err).contains("nowhere.jsonl: no such file");
    }
}
