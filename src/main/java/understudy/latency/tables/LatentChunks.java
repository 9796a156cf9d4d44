package understudy.latency.tables;

import java.util.function.DoubleUnaryOperator;
import understudy.latency.BatchShape;
import understudy.latency.LatentAttentionTime;

/**
 * Time of prefill chunks of latent attention in one layer, of which tables have whole prompts alone.
 *
 * <p>Modules of vLLM have all that is linear in the tokens of a prompt, and pairs: a chunk takes what the prompt up to its
 * end takes beyond what the prompt before it takes, and what is fixed, which the difference has lost. With tokens before it
 * these are decompressed again; a chunk that is absorbed attends to what is compressed.
 *
 * <p>Kernels of SGLang have pairs alone, of which a chunk has a share. Its backends decompress tokens before chunks if there
 * are 8,192 or more in a step, and else absorb all chunks ({@code attention_backend_handler.py}).
 *
 * @param haveModules whether tables have modules, or kernels
 * @param time formulas for what tables do not have
 * @param decompression time of one layer's {@code kv_b_proj}, by tokens
 */
record LatentChunks(boolean haveModules, LatentAttentionTime time, DoubleUnaryOperator decompression) {
    private static final double SGLANG_DECOMPRESSES_FROM = 8192;

    /** Returns the time of the chunks of a batch. */
    double micros(AttentionTable table, BatchShape batch) {
        return haveModules ? moduleMicros(table, batch) : kernelMicros(table, batch);
    }

    private double moduleMicros(AttentionTable table, BatchShape batch) {
        double micros = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            int tokens = batch.chunkTokens(i);
            int context = batch.chunkContextTokens(i);
            double alone = table.prefillMicros(tokens);
            if (context == 0) {
                micros += alone;
            } else if (time.absorbs(tokens)) {
                micros += alone + time.absorbedContextMicros(tokens, context);
            } else {
                double beyond = table.prefillMicros((double) tokens + context) - table.prefillMicros(context);
                micros += Math.max(alone, beyond + table.prefillMicros(1)) + contextMicros(tokens, context);
            }
        }
        return micros;
    }

    private double kernelMicros(AttentionTable table, BatchShape batch) {
        double tokens = 0;
        double contextTokens = 0;
        for (int i = 0; i < batch.numChunks(); i++) {
            tokens += batch.chunkContextTokens(i) > 0 ? batch.chunkTokens(i) : 0;
            contextTokens += batch.chunkContextTokens(i);
        }
        boolean isAbsorbed = contextTokens > 0 && contextTokens < SGLANG_DECOMPRESSES_FROM;
        double micros = contextTokens == 0 || isAbsorbed ? 0 : contextMicros(tokens, contextTokens);
        for (int i = 0; i < batch.numChunks(); i++) {
            int chunk = batch.chunkTokens(i);
            double context = batch.chunkContextTokens(i);
            micros += isAbsorbed
                    ? time.absorbedContextMicros(chunk, context + chunk / 2.0)
                    : table.prefillMicros(chunk, context);
        }
        return micros;
    }

    private double contextMicros(double tokens, double contextTokens) {
        return decompression.applyAsDouble(contextTokens) + time.copyMicros(tokens, contextTokens);
    }
}
