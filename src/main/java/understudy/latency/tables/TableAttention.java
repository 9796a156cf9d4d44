package understudy.latency.tables;

import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import understudy.latency.BatchShape;

/**
 * Time of the attention of all layers: that of all decodes with their mean context, and of each chunk the share of a
 * whole prompt's that its pairs of tokens are; with a window, that its tokens are.
 *
 * @param numLayers that attend to all tokens
 * @param full one of them
 * @param numWindowLayers that attend to a window
 * @param window one of them, null if there are none
 */
record TableAttention(
        int numLayers,
        AttentionTable full,
        int numWindowLayers,
        @Nullable AttentionTable window) implements ToDoubleFunction<BatchShape> {

    @Override
    public double applyAsDouble(BatchShape batch) {
        double micros = numLayers * layerMicros(full, batch, false);
        return window == null ? micros : micros + numWindowLayers * layerMicros(window, batch, true);
    }

    private static double layerMicros(AttentionTable table, BatchShape batch, boolean isWindow) {
        int numDecodes = batch.numDecodes();
        double micros =
                numDecodes == 0 ? 0 : table.decodeMicros(numDecodes, (double) batch.decodeKvTokens() / numDecodes);
        for (int i = 0; i < batch.numChunks(); i++) {
            double context = batch.chunkContextTokens(i);
            double all = context + batch.chunkTokens(i);
            double cached = context / all;
            micros += table.prefillMicros(all) * (isWindow ? 1 - cached : 1 - cached * cached);
        }
        return micros;
    }
}
