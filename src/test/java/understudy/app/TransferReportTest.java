package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** What the report of a run says about KV from other memories. */
final class TransferReportTest {
    private static final int NUM_REQUESTS = 8;

    /** All at once, eight prompts of 160 tokens and answers of 5: ten blocks each, of 16 tokens of 131,072 bytes. */
    private static final String[] PREFILL_AND_DECODE = {
        "run",
        "conf/pd.conf",
        "--json",
        "-",
        "--set",
        "workload.requests=" + NUM_REQUESTS,
        "--set",
        "workload.arrivals.request-rate=inf",
        "--set",
        "workload.lengths.prompt.kind=fixed",
        "--set",
        "workload.lengths.prompt.mean=160",
        "--set",
        "workload.lengths.output.kind=fixed",
        "--set",
        "workload.lengths.output.mean=5"
    };

    @Test
    void promptsOfAnswers_areTransferred_andComputedByTheOtherGroup() throws IOException {
        var json = call(PREFILL_AND_DECODE).json();
        var transfers = json.get("kv_transfers");

        // 8 x 160 tokens, for each of which the decode group asks once, as the prefill group does in vain.
        assertSources(transfers, 0, 1280);
        assertSources(transfers.get("per_group").get(0), 1280, 0);
        assertSources(transfers.get("per_group").get(1), 0, 1280);
        assertThat(transfers.get("prompt_tokens_cached_by_source").get("p2p").asInt())
                .isEqualTo(1280);
        assertThat(transfers.get("external_prefix_cache_queries").asInt()).isEqualTo(2560);
        assertThat(transfers.get("external_prefix_cache_hits").asInt()).isEqualTo(1280);
        assertThat(sumOfReplicas(json)).isEqualTo(2560);
    }

    @Test
    void reads_haveTheirBytesAndTimes() throws IOException {
        var json = call(PREFILL_AND_DECODE).json();
        var transfers = json.get("kv_transfers");

        var reads = transfers.get("transfers").get("read");
        assertThat(reads.get("count").asInt()).isEqualTo(NUM_REQUESTS);
        assertThat(reads.get("failed").asInt()).isZero();
        assertThat(reads.get("bytes").asLong()).isEqualTo(NUM_REQUESTS * 10L * 16 * 131_072);
        // Every request has waited for one read, so the mean over requests is that over reads.
        double meanMillis = reads.get("mean_ms").asDouble();
        assertThat(transfers.get("mean_transfer_ms_per_request").asDouble()).isCloseTo(meanMillis, within(1e-9));
        assertThat(transfers.get("transfer_share_of_mean_ttft").asDouble())
                .isCloseTo(meanMillis / json.get("mean_ttft_ms").asDouble(), within(1e-9));
        double gigabytesPerSecond = reads.get("bytes").asLong() / (meanMillis * 1e6 * NUM_REQUESTS);
        assertThat(reads.get("gb_per_s").asDouble()).isCloseTo(gigabytesPerSecond, within(1e-9));
        assertThat(transfers.get("tiers")).isEmpty();
        assertThat(transfers.get("nixl_num_kv_expired_reqs").asInt()).isZero();
    }

    /** The run is over within its first second, so the most tokens in one second are all there are. */
    @Test
    void tokensOfPrefillLegs_areNoOutput() throws IOException {
        var json = call(PREFILL_AND_DECODE).json();

        assertThat(json.get("duration").asDouble()).isLessThan(1);
        assertThat(json.get("total_output_tokens").asInt()).isEqualTo(NUM_REQUESTS * 5);
        assertThat(json.get("max_output_tokens_per_s").asInt()).isEqualTo(NUM_REQUESTS * 5);
    }

    @Test
    void hostMemory_hasItsTierAndItsLoads() throws IOException {
        var run = call(
                "run",
                "conf/tiers.conf",
                "--json",
                "-",
                "--set",
                "workload.requests=600",
                "--set",
                "kv-cache.num-gpu-blocks=700",
                "--set",
                "kv-cache.tiers.host.gib=4");
        var json = run.json();
        var transfers = json.get("kv_transfers");

        var tokens = transfers.get("prompt_tokens_by_source");
        assertThat(sum(tokens)).isEqualTo(json.get("total_input_tokens").asLong());
        assertThat(transfers.get("prompt_tokens_cached_by_source").get("host").asLong())
                .isPositive()
                .isEqualTo(tokens.get("external_kv_transfer").asLong())
                .isEqualTo(transfers.get("external_prefix_cache_hits").asLong());
        // 4 GiB of blocks of 16 x 131,072 bytes, for two replicas.
        var host = transfers.get("tiers").get("host");
        assertThat(host.get("blocks").asInt()).isEqualTo(2 * 2048);
        assertThat(host.get("stores").asInt() - host.get("evictions").asInt())
                .isEqualTo(host.get("used_blocks").asInt());
        assertThat(transfers.get("transfers").get("load").get("bytes").asLong())
                .isGreaterThanOrEqualTo(tokens.get("external_kv_transfer").asLong() * 131_072);
    }

    /** The host holds 2048 blocks of 16 tokens for 131,072 bytes each, far less than the GPU: all that is found is older. */
    @Test
    void chunksThatCameBackFromDisk_areCountedThere() throws IOException {
        var transfers = call(
                        "run",
                        "conf/tiers.conf",
                        "--json",
                        "-",
                        "--set",
                        "workload.requests=600",
                        "--set",
                        "kv-cache.num-gpu-blocks=2500",
                        "--set",
                        "kv-cache.tiers.host.gib=4",
                        "--set",
                        "kv-cache.tiers.disk.gib=64")
                .json()
                .get("kv_transfers");

        var cached = transfers.get("prompt_tokens_cached_by_source");
        long diskTokens = cached.get("disk").asLong();
        assertThat(diskTokens).isPositive();
        assertThat(diskTokens + cached.get("host").asLong())
                .isEqualTo(transfers
                        .get("prompt_tokens_by_source")
                        .get("external_kv_transfer")
                        .asLong());
        assertThat(transfers.get("transfers").get("promote").get("bytes").asLong())
                .isGreaterThanOrEqualTo(diskTokens * 131_072);
        // 64 GiB of blocks of 16 x 131,072 bytes, for two replicas.
        var disk = transfers.get("tiers").get("disk");
        assertThat(disk.get("blocks").asInt()).isEqualTo(2 * 32_768);
        assertThat(disk.get("used_blocks").asInt())
                .isPositive()
                .isEqualTo(disk.get("stores").asInt());
    }

    /** A prompt's ten blocks at 1 GB/s take 21 ms: no lease of 20 ms lasts until the end of a read. */
    @Test
    void readsOfBlocksThatAreGone_areCounted() throws IOException {
        var arguments = Stream.concat(
                Stream.of(PREFILL_AND_DECODE),
                Stream.of(
                        "--set",
                        "kv-cache.transfer.bandwidth=1",
                        "--set",
                        "kv-cache.transfer.lease-duration=20ms",
                        "--set",
                        "kv-cache.transfer.lease-heartbeats=false",
                        "--set",
                        "kv-cache.transfer.stale-read=garbage"));

        var json = call(arguments.toArray(String[]::new)).json();

        assertThat(json.get("completed").asInt()).isEqualTo(NUM_REQUESTS);
        assertThat(json.get("kv_transfers").get("num_stale_reads").asInt()).isEqualTo(NUM_REQUESTS);
        assertThat(json.get("kv_transfers").get("nixl_num_kv_expired_reqs").asInt())
                .isEqualTo(NUM_REQUESTS);
    }

    @Test
    void tables_areOnTheConsole() {
        assertThat(call("run", "conf/pd.conf", "--set", "workload.requests=20").out)
                .contains("--------------KV Transfers and Tiers--------------\n")
                .contains("Transfer time of mean TTFT (%):")
                .contains("| group decode  |")
                .contains("| Transfers | Count |");
    }

    @Test
    void withoutAConnector_nothingIsSaid() throws IOException {
        var run = call("run", "conf/demo.conf", "--set", "workload.requests=20", "--json", "-");

        assertThat(run.json().has("kv_transfers")).isFalse();
        assertThat(run.json().get("per_replica").get(0).has("prompt_tokens_by_source"))
                .isFalse();
    }

    private static void assertSources(JsonNode parent, int numComputed, int numTransferred) {
        var sources = parent.get("prompt_tokens_by_source");
        assertThat(sources.get("local_compute").asInt()).isEqualTo(numComputed);
        assertThat(sources.get("local_cache_hit").asInt()).isZero();
        assertThat(sources.get("external_kv_transfer").asInt()).isEqualTo(numTransferred);
    }

    private static long sumOfReplicas(JsonNode json) {
        return StreamSupport.stream(json.get("per_replica").spliterator(), false)
                .mapToLong(replica -> sum(replica.get("prompt_tokens_by_source")))
                .sum();
    }

    private static long sum(JsonNode counts) {
        return StreamSupport.stream(counts.spliterator(), false)
                .mapToLong(JsonNode::asLong)
                .sum();
    }
}
