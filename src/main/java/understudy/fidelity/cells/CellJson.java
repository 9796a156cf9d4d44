package understudy.fidelity.cells;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.report.Figures;

/** Comparison as figures for programs. */
final class CellJson {
    private CellJson() {}

    static Figures of(CellComparison comparison) {
        return new Figures()
                .add(
                        "summary",
                        comparison.groups().stream()
                                .flatMap(group -> summary(comparison, group))
                                .toList())
                .add(
                        "cells",
                        comparison.rows().stream()
                                .filter(CellRow::hasRun)
                                .map(CellJson::cell)
                                .toList())
                .add("contradicting", remarks(comparison.contradicting(), "reason"))
                .add("left_out", remarks(comparison.leftOut(), "reason"))
                .add("assumed", remarks(comparison.assumed(), "what"))
                .add("sources", remarks(comparison.sources(), "what"));
    }

    private static List<Figures> remarks(List<Remark> remarks, String key) {
        return remarks.stream()
                .map(each -> new Figures()
                        .add("lines", each.lines())
                        .add("name", each.name())
                        .add(key, each.text()))
                .toList();
    }

    private static Stream<Figures> summary(CellComparison comparison, CellGroup group) {
        return IntStream.range(0, comparison.latencyModels().size())
                .filter(i -> group.errors().get(i).numCells() > 0)
                .mapToObj(i -> group.errors()
                        .get(i)
                        .addTo(new Figures()
                                .add("by", group.by())
                                .add("group", group.name())
                                .add("latency_model", comparison.latencyModels().get(i))));
    }

    private static Figures cell(CellRow row) {
        var cell = row.cell();
        return new Figures()
                .add("setup", setup(cell.setup()))
                .add("lines", cell.lines())
                .add("measured_mean_tpot_ms", cell.tpotMillis())
                .add("measured_mean_ttft_ms", cell.ttftMillis())
                .add("emulated_kv_cache_dtype", row.kvCache().dtype())
                .add("kv_cache_dtype_assumed", row.kvCache().isAssumed())
                .add("short_of_kv", row.isShortOfKv())
                .add("short_of_kv_by", row.shortOfKvBy())
                .add(
                        "runs",
                        row.runs().stream()
                                .filter(CellRun::hasRun)
                                .map(run -> new Figures()
                                        .add("latency_model", run.latencyModel())
                                        .add("mean_tpot_ms", run.tpotMillis())
                                        .add("tpot_error_percent", run.tpotErrorPercent())
                                        .add("mean_ttft_ms", run.ttftMillis())
                                        .add("ttft_error_percent", run.ttftErrorPercent()))
                                .toList());
    }

    private static Figures setup(MeasuredSetup setup) {
        return new Figures()
                .add("model", setup.model())
                .add("gpu", setup.gpu())
                .add("version", setup.version())
                .add("weights", setup.weights())
                .add("expert_weights", setup.expertWeights())
                .add("kv_cache_dtype", setup.kvCacheDtype())
                .add("tensor_parallel_size", setup.tensorParallelSize())
                .add("data_parallel_size", setup.dataParallelSize())
                .add("moe_tensor_parallel_size", setup.moeTensorParallelSize())
                .add("expert_parallel_size", setup.expertParallelSize())
                .add("parallelism", setup.parallelism())
                .add("input_tokens", setup.inputTokens())
                .add("output_tokens", setup.outputTokens())
                .add("concurrency", setup.concurrency());
    }
}
