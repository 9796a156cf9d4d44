package understudy.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.plan.Judgement.Use;
import understudy.sweep.PointResult;
import understudy.sweep.SweepPoint;
import understudy.sweep.SweepRow;

final class BottleneckTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // Two preemptions for each hundred requests, whatever the limit is about.
                "p99_tpot_ms | 'completed': 100, 'num_preemptions': 2 | MEMORY",
                // Requests wait 300 of 400 ms while the KV cache is full, or while it is not.
                "p99_ttft_ms | 'peak_kv_cache_usage': 0.96, 'mean_queue_time_ms': 300, 'mean_ttft_ms': 400 | MEMORY",
                "p99_ttft_ms | 'peak_kv_cache_usage': 0.5, 'mean_queue_time_ms': 300, 'mean_ttft_ms': 400 | PREFILL",
                // 250 of 400 ms are for the way of the KV.
                "p99_ttft_ms | 'mean_queue_time_ms': 50, 'mean_ttft_ms': 400,"
                        + " 'kv_transfers': {'mean_transfer_ms_per_request': 250} | NETWORK",
                // Gaps are as long as most are; or twice as long, by prompts.
                "p99_tpot_ms | 'median_itl_ms': 30, 'mean_itl_ms': 33 | DECODE",
                "p99_tpot_ms | 'median_itl_ms': 15, 'mean_itl_ms': 33 | PREFILL",
                // Of 5 s the first token takes 0.4.
                "p99_e2el_ms | 'mean_e2el_ms': 5000, 'mean_ttft_ms': 400, 'median_itl_ms': 30,"
                        + " 'mean_itl_ms': 31 | DECODE"
            })
    void figures_sayWhatBinds(String key, String figures, Bottleneck.Kind kind) throws JsonProcessingException {
        var report = (ObjectNode) new ObjectMapper().readTree("{" + figures.replace('\'', '"') + "}");
        var run = new PointResult("x", Optional.empty(), false, report);
        var row = new SweepRow(new SweepPoint("x", Map.of()), List.of(run), List.of(), Optional.empty());

        assertThat(Bottleneck.of(row, new Use("", key, 2, 1, 2)).kind()).isEqualTo(kind);
    }
}
