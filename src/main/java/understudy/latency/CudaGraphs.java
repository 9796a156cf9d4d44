package understudy.latency;

import java.util.Arrays;
import java.util.stream.IntStream;

/** CUDA graphs that an engine captures when it starts: which steps run as one, and how many tokens that computes. */
public final class CudaGraphs {
    /** vLLM's, of steps with prefills, too: 1, 2, 4, multiples of 8 up to 256, and of 16 up to 512. */
    public static final CudaGraphs VLLM =
            new CudaGraphs(false, concat(IntStream.of(1, 2, 4), multiples(8, 8, 256), multiples(16, 272, 512)));

    private final boolean areDecodesOnly;
    /** In ascending order. */
    private final int[] sizes;

    private CudaGraphs(boolean areDecodesOnly, int[] sizes) {
        this.areDecodesOnly = areDecodesOnly;
        this.sizes = sizes;
    }

    /** Returns SGLang's, of decodes alone ({@code _generate_cuda_graph_batch_sizes} in its {@code server_args.py}). */
    public static CudaGraphs ofDecodes(int maxBatchSize) {
        int[] all = concat(
                IntStream.of(1, 2, 4, 8, 12),
                multiples(8, 16, 256),
                multiples(16, 272, 496),
                multiples(32, 512, maxBatchSize));
        return new CudaGraphs(
                true, Arrays.stream(all).filter(size -> size <= maxBatchSize).toArray());
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

    /** Returns whether so many tokens of a step are computed in a graph. */
    public boolean cover(BatchShape batch, int numTokens) {
        return numTokens <= maxTokens() && !(areDecodesOnly && (batch.numChunks() > 0 || batch.isBesidePrefill()));
    }

    /** Returns the tokens that a graph computes for so many: those of the next size, if there is one. */
    public int padded(int tokens) {
        int place = Arrays.binarySearch(sizes, tokens);
        int next = place < 0 ? -place - 1 : place;
        return tokens > 0 && next < sizes.length ? sizes[next] : tokens;
    }
}
