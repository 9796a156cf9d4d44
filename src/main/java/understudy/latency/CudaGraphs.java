package understudy.latency;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;

/** CUDA graphs that an engine captures when it starts: which steps run as one, and how many tokens that computes. */
public final class CudaGraphs {
    private static final int USUAL_MAX = 512;
    private static final int FINE_MAX = 256;

    /** vLLM's by default. */
    public static final CudaGraphs VLLM = upTo(USUAL_MAX, Mode.FULL_AND_PIECEWISE);

    private final Mode mode;
    /** In ascending order. */
    private final int[] sizes;

    /** Parts of a step that are captured, as vLLM's {@code CUDAGraphMode} names them. */
    public enum Mode {
        /** Nothing. */
        NONE,
        /** All but attention. */
        PIECEWISE,
        /** Steps as a whole. */
        FULL,
        /** Steps without prefills, as a whole. */
        FULL_DECODE_ONLY,
        /** Steps without prefills as a whole, and others but for their attention. */
        FULL_AND_PIECEWISE
    }

    private CudaGraphs(Mode mode, int[] sizes) {
        this.mode = mode;
        this.sizes = sizes;
    }

    /** Returns those of given sizes, in tokens. */
    public static CudaGraphs ofSizes(IntStream sizes, Mode mode) {
        return new CudaGraphs(
                mode, mode == Mode.NONE ? new int[0] : sizes.sorted().distinct().toArray());
    }

    /** Returns vLLM's: of 1, 2 and 4 tokens, multiples of 8 up to 256, and of 16 beyond ({@code VllmConfig}). */
    public static CudaGraphs upTo(int maxTokens, Mode mode) {
        return of(IntStream.of(1, 2, 4), maxTokens, mode);
    }

    /** Returns the same with each size up to 32, as vLLM has them with {@code --performance-mode interactivity}. */
    public static CudaGraphs finelyUpTo(int maxTokens, Mode mode) {
        return of(IntStream.rangeClosed(1, 32), maxTokens, mode);
    }

    private static CudaGraphs of(IntStream smallest, int maxTokens, Mode mode) {
        var all = concat(smallest, multiples(8, 8, FINE_MAX), multiples(16, FINE_MAX + 16, maxTokens));
        return ofSizes(Arrays.stream(all).filter(size -> size <= maxTokens), mode);
    }

    /** Returns SGLang's, of decodes alone ({@code _generate_cuda_graph_batch_sizes} in its {@code server_args.py}). */
    public static CudaGraphs ofDecodes(int maxBatchSize) {
        int[] all = concat(
                IntStream.of(1, 2, 4, 8, 12),
                multiples(8, 16, 256),
                multiples(16, 272, 496),
                multiples(32, 512, maxBatchSize));
        return ofSizes(Arrays.stream(all).filter(size -> size <= maxBatchSize), Mode.FULL_DECODE_ONLY);
    }

    private static IntStream multiples(int step, int first, int last) {
        return IntStream.iterate(first, size -> size <= last, size -> size + step);
    }

    private static int[] concat(IntStream... parts) {
        return Arrays.stream(parts).flatMapToInt(part -> part).toArray();
    }

    /** Returns the most tokens of a graph, 0 without graphs. */
    public int maxTokens() {
        return sizes.length == 0 ? 0 : sizes[sizes.length - 1];
    }

    /** Returns whether so many tokens of a step are computed in graphs, as a whole or in pieces. */
    public boolean cover(BatchShape batch, int numTokens) {
        return numTokens <= maxTokens() && !(mode == Mode.FULL_DECODE_ONLY && hasPrefills(batch));
    }

    private static boolean hasPrefills(BatchShape batch) {
        return batch.numChunks() > 0 || batch.isBesidePrefill();
    }

    /** Returns the tokens that a graph computes for so many: those of the next size, if there is one. */
    public int padded(int tokens) {
        int place = Arrays.binarySearch(sizes, tokens);
        int next = place < 0 ? -place - 1 : place;
        return tokens > 0 && next < sizes.length ? sizes[next] : tokens;
    }

    /** Returns what the graphs are of, for people. */
    @Override
    public String toString() {
        return sizes.length == 0
                ? "no CUDA graphs"
                : "CUDA graphs of up to " + maxTokens()
                        + switch (mode) {
                            case FULL_DECODE_ONLY -> " decodes";
                            case FULL -> " tokens";
                            default -> " tokens, with prefills in pieces";
                        };
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CudaGraphs graphs && mode == graphs.mode && Arrays.equals(sizes, graphs.sizes);
    }

    @Override
    public int hashCode() {
        return Objects.hash(mode, Arrays.hashCode(sizes));
    }
}
