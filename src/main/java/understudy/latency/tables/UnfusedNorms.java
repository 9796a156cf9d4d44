package understudy.latency.tables;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Surplus of measured modules of latent attention: AIConfigurator ran their norms as PyTorch's kernels for single operations,
 * which no engine does, but on B200 as vLLM's fused ones.
 *
 * <p>Found on H200 from tables alone: a module of decodes without tokens before them, less its three projections and two
 * batched products, SGLang's kernel of the same attention, and four element-wise kernels. It takes as long on B300, next to
 * the modules of B200.
 */
final class UnfusedNorms {
    private static final double MICROS_OF_ONE = 29;
    private static final double MICROS_PER_DOUBLING = 3.6;

    /** What is said of tables with the surplus. */
    static final String NOTE = "decodes of latent attention less 29 us and 3.6 us with each doubling of their number:"
            + " norms that an engine fuses";

    /** Note of a version's folder that its norms are those of an engine. */
    private static final String FUSED = "norm_dispatch:";

    private UnfusedNorms() {}

    /** Returns the surplus of so many decodes, at least one. */
    static double micros(double decodes) {
        return MICROS_OF_ONE + MICROS_PER_DOUBLING * Math.log(decodes) / Math.log(2);
    }

    /** Returns whether a table was measured with the norms of an engine. */
    static boolean areFused(Path table) {
        var meta = table.resolveSibling("collection_meta.yaml");
        try {
            return Files.exists(meta) && Files.readString(meta).contains(FUSED);
        } catch (IOException e) {
            throw new KernelDatabaseException("cannot read " + meta + ": " + e.getMessage());
        }
    }
}
