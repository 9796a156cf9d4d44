package understudy.latency;

import org.jspecify.annotations.Nullable;
import understudy.latency.LlmSpec.LatentAttention;

/**
 * Time of latent attention (DeepSeek's MLA) in one layer on one GPU of a tensor-parallel group, beside the projections that
 * all tokens go through, as vLLM computes it ({@code mla_attention.py}).
 *
 * <p>Decodes are absorbed: queries go through a half of {@code kv_b_proj}, attend to the compressed vectors, which are one
 * KV head for all query heads, and the results go through the other half. Prefill chunks are decompressed: {@code
 * kv_b_proj} makes keys and values of their tokens, as many heads as queries have. Compressed vectors of the tokens before
 * a chunk are gathered from the KV cache, decompressed again, attended to by a kernel of its own, and the results merged.
 * Some kernels absorb short chunks, too.
 *
 * <p>With an indexer, decodes attend to no more tokens than it chooses; chunks for which it has a choice are absorbed, and
 * {@linkplain SparseAttentionTime attend to what is chosen}.
 */
public final class LatentAttentionTime {
    /** Queries, heads times tokens, that the kernels for decodes compute at a time. */
    private static final int TILE_ROWS = 64;

    private static final int TILE = 128;
    private static final double BYTES = 2;
    private static final double FLOP = 2;

    /** Tokens that are decompressed at a time: vLLM's {@code determine_chunked_prefill_workspace_size}. */
    private static final int WORKSPACE_TOKENS = 64 * 1024;

    private final LatentAttention dims;
    private final GpuSpec gpu;
    private final GpuSpec.Latent fit;
    private final GpuSpec.LatentDecodes decodes;
    private final double heads;
    private final double bytesPerKvElement;
    private final double microsPerKvToken;
    private final double microsPerRowAndToken;
    private final double sequenceMicrosPerKvToken;
    private final double microsPerPair;
    private final Gemm intoLatent;
    private final Gemm outOfLatent;
    private final Gemm decompression;
    private final @Nullable SparseAttentionTime sparse;

    /** Describes the group of GPUs; the model must have latent attention. */
    public LatentAttentionTime(
            LlmSpec llm, LatentAttention dims, GpuSpec gpu, int tensorParallelSize, double bytesPerKvElement) {
        this.dims = dims;
        this.gpu = gpu;
        this.bytesPerKvElement = bytesPerKvElement;
        fit = gpu.attention().latent();
        decodes = fit.decodes(bytesPerKvElement);
        heads = (double) llm.attention().numHeads() / tensorParallelSize;
        double bytes = dims.vectorBytes(bytesPerKvElement);
        microsPerKvToken = bytes / (decodes.bandwidth() * gpu.bytesPerMicro());
        microsPerRowAndToken = FLOP * (2.0 * dims.kvRank() + dims.ropeDim()) / (decodes.compute() * gpu.flopPerMicro());
        sequenceMicrosPerKvToken = bytes / decodes.sequenceBytesPerMicro();
        microsPerPair = FLOP
                * heads
                * (dims.nopeDim() + dims.ropeDim() + dims.valueDim())
                / (fit.compute() * gpu.flopPerMicro());
        // vLLM keeps both halves in BF16, whatever the format of the weights.
        intoLatent = Gemm.ofHeads(gpu, heads, dims.kvRank(), dims.nopeDim());
        outOfLatent = Gemm.ofHeads(gpu, heads, dims.valueDim(), dims.kvRank());
        decompression = Gemm.of(gpu, llm.weights(), heads * (dims.nopeDim() + dims.valueDim()), dims.kvRank());
        var indexer = dims.indexer();
        sparse = indexer == null ? null : new SparseAttentionTime(indexer, dims, gpu, heads);
    }

    /** Returns whether a chunk of so many tokens is absorbed, as decodes are. */
    public boolean absorbs(int chunkTokens) {
        return chunkTokens <= fit.absorbedChunkTokens(bytesPerKvElement);
    }

    /** Returns the time of a batch. */
    double micros(BatchShape batch) {
        double micros = absorbedMicros(batch) + decompressedMicros(batch);
        return sparse == null ? micros : micros + sparse.indexMicros(batch) + sparseMicros(batch, sparse);
    }

    private boolean isSparse(BatchShape batch, int chunk) {
        return sparse != null && sparse.chooses(batch.chunkTokens(chunk), batch.chunkContextTokens(chunk));
    }

    /** Returns the time of the chunks that attend to a part of the tokens before them. */
    private double sparseMicros(BatchShape batch, SparseAttentionTime time) {
        double tokens = 0;
        double micros = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            if (isSparse(batch, i)) {
                tokens += batch.chunkTokens(i);
                micros += time.chunkMicros(batch.chunkTokens(i), batch.chunkContextTokens(i));
            }
        }
        return tokens == 0 ? 0 : intoLatent.micros(tokens) + micros + outOfLatent.micros(tokens);
    }

    /** Returns the time of decodes and of the chunks that are absorbed with them. */
    private double absorbedMicros(BatchShape batch) {
        int numDecodes = batch.numDecodes();
        double tokens = (double) batch.numTokens() - batch.numPrefillTokens();
        double tokensPerDecode = numDecodes == 0 ? 1 : tokens / numDecodes;
        // Drafts attend to what is chosen for each of them.
        double kvTokens =
                sparse == null ? batch.decodeKvTokens() : tokensPerDecode * batch.decodeKvTokensWithin(sparse.topK());
        double rowsAndTokens = kvTokens * rows(sparse == null ? tokensPerDecode : 1);
        double sequence = numDecodes == 0 ? 0 : kvTokens / numDecodes * sequenceMicrosPerKvToken;
        for (int i = 0; i < batch.numChunks(); i++) {
            int chunk = batch.chunkTokens(i);
            if (absorbs(chunk) && !isSparse(batch, i)) {
                tokens += chunk;
                kvTokens += chunk + batch.chunkContextTokens(i);
                rowsAndTokens += rows(chunk) * (batch.chunkContextTokens(i) + chunk / 2.0);
            }
        }
        if (tokens == 0) {
            return 0;
        }
        double attention =
                Math.max(Math.max(kvTokens * microsPerKvToken, rowsAndTokens * microsPerRowAndToken), sequence);
        return intoLatent.micros(tokens) + decodes.overheadMicros() + attention + outOfLatent.micros(tokens);
    }

    private double rows(double tokens) {
        return TILE_ROWS * Math.ceil(heads * tokens / TILE_ROWS);
    }

    /** Returns the time of chunks that are not absorbed, and of the tokens before them. */
    private double decompressedMicros(BatchShape batch) {
        double tokens = 0;
        double contextTokens = 0;
        double mergedTokens = 0;
        double pairs = 0;
        int longest = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            int chunk = batch.chunkTokens(i);
            int context = batch.chunkContextTokens(i);
            if (!absorbs(chunk) && !isSparse(batch, i)) {
                tokens += chunk;
                contextTokens += context;
                mergedTokens += context > 0 ? chunk : 0;
                pairs +=
                        (double) chunk * context + gpu.attention().causalFactor() * chunk * (chunk + (double) TILE) / 2;
                longest = Math.max(longest, chunk + context);
            }
        }
        if (tokens == 0) {
            return 0;
        }
        double attention = gpu.attention().kernel().overheadMicros()
                + Math.max(microsPerPair * pairs, gpu.attention().microsPerChunkToken() * longest);
        double own = decompression.micros(tokens) + elementwiseMicros(tokens * keyBytes());
        return own + attention + contextMicros(mergedTokens, contextTokens);
    }

    /** Returns what the tokens before chunks take beside attention's pairs. */
    private double contextMicros(double mergedTokens, double contextTokens) {
        if (contextTokens == 0) {
            return 0;
        }
        double rounds = Math.ceil(contextTokens / WORKSPACE_TOKENS);
        double kernels = decompression.micros(contextTokens / rounds)
                + gpu.attention().kernel().overheadMicros();
        return rounds * kernels + copyMicros(mergedTokens, contextTokens);
    }

    /**
     * Returns the time of gathering compressed vectors from the KV cache, of putting keys together, and of merging what
     * attention returns.
     *
     * @param chunkTokens tokens of a chunk
     * @param contextTokens tokens before it
     */
    public double copyMicros(double chunkTokens, double contextTokens) {
        double rounds = Math.ceil(contextTokens / WORKSPACE_TOKENS);
        double gathered = contextTokens * (dims.vectorBytes(bytesPerKvElement) + dims.vectorBytes(BYTES));
        // Two results are read and one is written.
        double merged = 3 * BYTES * rounds * chunkTokens * heads * dims.valueDim();
        return elementwiseMicros(gathered)
                + elementwiseMicros(contextTokens * keyBytes())
                + elementwiseMicros(merged)
                + 3 * (rounds - 1) * gpu.elementwise().overheadMicros();
    }

    /** Returns the time in which an absorbed chunk of so many tokens attends to the tokens before it. */
    public double absorbedContextMicros(int chunkTokens, double contextTokens) {
        return contextTokens * Math.max(microsPerKvToken, rows(chunkTokens) * microsPerRowAndToken);
    }

    /** A key of each head is read, and written with the position, which is the same for all heads. */
    private double keyBytes() {
        return BYTES * (heads * (2 * dims.nopeDim() + dims.ropeDim()) + dims.ropeDim());
    }

    private double elementwiseMicros(double bytes) {
        var elementwise = gpu.elementwise();
        return elementwise.overheadMicros() + bytes / (elementwise.bandwidth() * gpu.bytesPerMicro());
    }
}
