package understudy.latency.tables;

import java.util.List;
import java.util.Optional;

/** Tables whose rows were measured in another way than an engine runs the kernels, which the rows do not show. */
final class KnownDefects {
    private static final String NO_GRAPH = "timed without a CUDA graph, 50 to 150 us at least";
    private static final String SLOW_EXPERTS = "1.5 to 6 times slower than before and after";

    private static final String ANY_GPU = "";
    private static final String HOPPER = "h";

    /**
     * Defect of a format's rows in a table, measured with vLLM's kernels of a release.
     *
     * @param gpus beginning of the names of the GPUs that it was measured on
     */
    private record Defect(String gpus, String table, String dtype, String release, String what) {}

    private static final List<Defect> ALL = List.of(
            new Defect(ANY_GPU, "gemm", "fp8_block", "0.18", NO_GRAPH),
            new Defect(ANY_GPU, "gemm", "fp8_block", "0.24", NO_GRAPH),
            new Defect(ANY_GPU, "gemm", "fp8", "0.14", "with dynamic scales, 1.5 to 2 times slower in small batches"),
            new Defect(ANY_GPU, "moe", "int4_wo", "0.18", SLOW_EXPERTS),
            new Defect(ANY_GPU, "moe", "int4_wo", "0.19", SLOW_EXPERTS),
            new Defect(ANY_GPU, "moe", "w4a16_mxfp4", "0.18", "without regard to expert parallelism"),
            new Defect(ANY_GPU, "moe", "w4a16_mxfp4", "0.19", "without regard to expert parallelism"),
            // FlashInfer's CUTLASS kernels, read at a tenth of the bandwidth; Blackwell's rows are faster than before.
            new Defect(HOPPER, "moe", "fp8", "0.24", "2.7 to 5.9 times slower than 0.19"));

    private KnownDefects() {}

    /** Returns the known defect of a format's rows in a table, which may be that of another version. */
    static Optional<String> of(String table, String dtype, TableFile file) {
        var path = file.path();
        String gpu = path.getName(path.getNameCount() - 5).toString();
        return ALL.stream()
                .filter(defect -> file.engine().equals("vllm"))
                .filter(defect -> defect.table.equals(table) && defect.dtype.equals(dtype))
                .filter(defect -> file.version().startsWith(defect.release + ".") && gpu.startsWith(defect.gpus))
                .map(Defect::what)
                .findFirst();
    }
}
