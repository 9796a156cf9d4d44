package understudy.latency.tables;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import understudy.latency.GpuSpec;
import understudy.latency.GpuSpec.Efficiency;
import understudy.latency.GpuSpecBuilder;
import understudy.parquet.ParquetBytes;

/** Makes a directory with measured kernels of a GPU: 10 TFLOP/s, 1 MB/us for element-wise kernels, of Ampere. */
final class TableFolder {
    static final String GPU = "test_gpu";

    private static final Efficiency EFFICIENCY = new Efficiency(1, 1, 0);
    private static final GpuSpec.LatentDecodes LATENT_DECODES =
            new GpuSpec.LatentDecodes(1, 1, 0, Double.POSITIVE_INFINITY);
    /** The GPU as formulas know it. */
    static final GpuSpec GPU_SPEC = GpuSpecBuilder.builder()
            .name("gpu")
            .memoryGib(1)
            .bf16Tflops(1)
            .bandwidthGbPerSecond(1000)
            .gemm(EFFICIENCY)
            .fp8Gemm(EFFICIENCY)
            .fp4Gemm(EFFICIENCY)
            .attention(new GpuSpec.Attention(
                    EFFICIENCY, 1, 0, 1, 0, 0, 0, 0, new GpuSpec.Latent(1, 1, LATENT_DECODES, LATENT_DECODES)))
            .elementwise(EFFICIENCY)
            .allReduce(new GpuSpec.AllReduce(1, 1, null))
            .experts(GpuSpec.Experts.alike(new GpuSpec.ExpertKernels(1, 1, 1, 0, 0, 0), 0))
            .build();

    private final Path root;
    private String engine = "vllm";

    TableFolder(Path root) {
        this.root = root;
        setSmVersion(80);
    }

    /** Makes it a GPU of that compute capability. */
    void setSmVersion(int version) {
        write(root.resolve(GPU + ".yaml"), """
            gpu:
              mem_bw: 1250000000000 # B/s
              mem_bw_empirical_scaling_factor: 0.8
              bfloat16_tc_flops: 10000000000000
              sm_version: %d
            """.formatted(version).getBytes(StandardCharsets.UTF_8));
    }

    /** Writes tables of that engine from now on. */
    void setEngine(String name) {
        engine = name;
    }

    KernelDatabase database() {
        return new KernelDatabase(root);
    }

    /** Writes a linear layer's table of 2 n by 2 k by 2 m, whose times in ms follow from m, n and k. */
    void gemm(String version, String dtype, ToDoubleFunction<double[]> millis) {
        double[][] rows = Arrays.stream(new double[][] {{64, 64}, {64, 256}, {256, 64}, {256, 256}})
                .flatMap(nk -> DoubleStream.of(1, 1024).mapToObj(m -> new double[] {m, nk[0], nk[1]}))
                .toArray(double[][]::new);
        table("gemm", version, "gemm", Map.of("gemm_dtype", dtype), new String[] {"m", "n", "k"}, rows, millis);
    }

    /** Writes both tables of attention of 2 heads on 1 KV head of 32 elements: lengths 64 and 1024, 1 and 4 decodes. */
    void attention(String version, double prefillMillis, double decodeMillis) {
        var texts = Map.of("kv_cache_dtype", "bfloat16");
        String[] numbers = {"batch_size", "isl", "step", "num_heads", "num_key_value_heads", "head_dim"};
        double[][] prefills = {{1, 64, 0, 2, 1, 32}, {1, 1024, 0, 2, 1, 32}};
        double[][] decodes = {{1, 1, 63, 2, 1, 32}, {1, 1, 1023, 2, 1, 32}, {4, 1, 63, 2, 1, 32}, {4, 1, 1023, 2, 1, 32}
        };
        table("attention", version, "context_attention", texts, numbers, prefills, row -> prefillMillis);
        table("attention", version, "generation_attention", texts, numbers, decodes, row -> decodeMillis);
    }

    void table(
            String family,
            String version,
            String table,
            Map<String, String> texts,
            String[] numbers,
            double[][] rows,
            ToDoubleFunction<double[]> millis) {
        var columns = new LinkedHashMap<String, Object>(texts);
        for (int i = 0; i < numbers.length; i++) {
            int column = i;
            columns.put(
                    numbers[i],
                    Arrays.stream(rows).mapToDouble(row -> row[column]).toArray());
        }
        columns.put("latency", Arrays.stream(rows).mapToDouble(millis).toArray());
        write(folder(family, version).resolve(table + "_perf.parquet"), ParquetBytes.table(columns));
    }

    /** Says in a version's folder that a table is that of another version. */
    void reuse(String family, String version, String table, String fromVersion) {
        String yaml = "- {table: " + table + ", from_version: " + fromVersion + "}\n";
        write(folder(family, version).resolve("reuse.yaml"), yaml.getBytes(StandardCharsets.UTF_8));
    }

    private Path folder(String family, String version) {
        return root.resolve("data").resolve(GPU).resolve(family).resolve(engine).resolve(version);
    }

    private static void write(Path file, byte[] bytes) {
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
