package understudy.latency.tables;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import understudy.latency.Gemm;
import understudy.latency.WeightFormat;

/** Times of linear layers on a GPU: those of tables, and the roofline's for a format that has none. */
final class LinearLayers {
    private final TableChoice choice;
    private final GpuData gpu;
    private final Placement at;
    private final Map<String, Optional<GemmTable>> tables = new HashMap<>();
    private double measuredTokens = Double.POSITIVE_INFINITY;

    LinearLayers(TableChoice choice, GpuData gpu, Placement at) {
        this.choice = choice;
        this.gpu = gpu;
        this.at = at;
    }

    /** Returns the time by tokens of a layer from {@code k} inputs to {@code n} outputs. */
    DoubleUnaryOperator layer(WeightFormat format, double n, double k) {
        var table = tables.computeIfAbsent(Dtypes.ofLinear(format).orElse(format.name()), this::table)
                .orElse(null);
        if (table == null) {
            return Gemm.of(at.gpu(), format, n, k)::micros;
        }
        measuredTokens = Math.min(measuredTokens, table.maxTokens());
        return table.layer(n, k);
    }

    /** Returns the most tokens that all tables of the layers so far were measured with. */
    double measuredTokens() {
        return measuredTokens;
    }

    private Optional<GemmTable> table(String dtype) {
        var part = new TableChoice.Part("gemm", "gemm", "gemm", "linear layers in " + dtype, dtype);
        return Optional.ofNullable(choice.choose(part, file -> GemmTable.read(file.path(), dtype, gpu)));
    }
}
