package understudy.latency.tables;

import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import understudy.latency.BatchShape;

/**
 * Time of the attention of all layers: that of all decodes with their mean context, and of each chunk the share of a
 * whole prompt's that its pairs of tokens are; with a window, that its tokens are. Chunks of latent attention have a {@linkplain
 * LatentChunks time of their own}.
 *
 * @param numLayers that attend to all tokens
 * @param full one of them
 * @param numWindowLayers that attend to a window
 * @param window one of them, null if there are none
 * @param latentChunks of latent attention, or null
 */
record TableAttention(
        int numLayers,
        AttentionTable full,
        int numWindowLayers,
        @Nullable AttentionTable window,
        @Nullable LatentChunks latentChunks)
        implements ToDoubleFunction<BatchShape> {

    @Override
    public double applyAsDouble(BatchShape batch) {
        double micros = numLayers * layerMicros(full, batch, false);
        return window == null ? micros : micros + numWindowLayers * layerMicros(window, batch, true);
    }

    private double layerMicros(AttentionTable table, BatchShape batch, boolean isWindow) {
        int numDecodes = batch.numDecodes();
        double micros =
                numDecodes == 0 ? 0 : table.decodeMicros(numDecodes, (double) batch.decodeKvTokens() / numDecodes);
        if (latentChunks != null) {
            return micros + latentChunks.micros(table, batch);
        }
        for (int i = 0; i < batch.numChunks(); i++) {
            double context = batch.chunkContextTokens(i);
            double all = context + batch.chunkTokens(i);
            micros += isWindow
                    ? table.prefillMicros(all) * (1 - context / all)
                    : table.prefillMicros(batch.chunkTokens(i), context);
        }
        return micros;
    }
}
