package understudy.latency.tables;

import static understudy.latency.StepExecution.VLLM;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;
import understudy.latency.LayerTime;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.WeightFormat;

/**
 * Times of the experts of one layer on the busiest rank.
 *
 * @param micros by the tokens of all ranks
 * @param maxTokens most tokens that were measured, infinite for formulas
 */
record ExpertTimes(DoubleUnaryOperator micros, double maxTokens) {
    private static final Set<String> COLUMNS = Set.of(
            "moe_dtype",
            "distribution",
            "hidden_size",
            "inter_size",
            "topk",
            "num_experts",
            "moe_tp_size",
            "moe_ep_size",
            "num_tokens");
    private static final double LEAST_LIKENESS = 0.8;

    private static final double MULTIPLE = 256;

    private static final String SETTING = "moe";
    private static final String SKEW = "experts' skew " + Ingredients.DISTRIBUTION + ": empirical";

    /** Shape of experts of which a table has times. */
    private record Shape(double hiddenSize, double interSize, double topk, double numExperts) {
        static Shape of(Rows.Row row) {
            return new Shape(
                    row.number("hidden_size"), row.number("inter_size"), row.number("topk"), row.number("num_experts"));
        }

        double weightsOfOne() {
            return hiddenSize * interSize;
        }

        /**
         * Returns the weights of all experts, each in so many parts, as FlashInfer's kernels have them: inputs and outputs
         * of a part are multiples of 256 ({@code mxfp4.py} of vLLM).
         */
        double storedWeights(int numParts) {
            return padded(hiddenSize) * padded(interSize / numParts) * numParts * numExperts;
        }

        private static double padded(double size) {
            return MULTIPLE * Math.ceil(size / MULTIPLE);
        }

        double tokensPerExpert() {
            return topk / numExperts;
        }

        /** Returns how alike the sizes of one expert are, 1 for equal ones. */
        double likeness(Shape other) {
            double ratio = weightsOfOne() / other.weightsOfOne();
            return Math.min(ratio, 1 / ratio);
        }

        Rows in(Rows rows) {
            return rows.where("hidden_size", hiddenSize)
                    .where("inter_size", interSize)
                    .where("topk", topk)
                    .where("num_experts", numExperts);
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT, "%.0f of %.0f experts of %.0f x %.0f", topk, numExperts, hiddenSize, interSize);
        }
    }

    private record Found(Curve curve, boolean isOfVllm) {}

    /** Returns the times that tables have, or those of the formulas. */
    static ExpertTimes of(TableChoice choice, GpuData gpu, Placement at, LayerTime roofline) {
        String dtype = Dtypes.ofExperts(at.llm().expertWeights()).orElse("");
        if (at.llm().expertWeights() == WeightFormat.MXFP4
                && at.mxfp4Activations().areMxfp8(gpu)) {
            var times = withMxfp8Activations(choice, at);
            if (times != null) {
                return times;
            }
            choice.warn("no times of experts in " + Dtypes.MXFP4_MXFP8 + "; those with BF16 activations are taken");
        }
        var ffn = at.llm().feedForward();
        var shape = shape(at);
        String what = String.format(
                Locale.ROOT,
                "%d of %d experts of %d in %s, TP %d, EP %d",
                ffn.numExpertsPerToken(),
                ffn.numExperts(),
                ffn.expertSize(),
                at.llm().expertWeights(),
                at.expertTensorSize(),
                at.expertParallelSize());
        var found = choice.choose(new TableChoice.Part(SETTING, "moe", "moe", what, dtype), file -> {
            var curve = shape.in(rows(file.path(), dtype, at)).curve("num_tokens");
            return curve == null ? null : new Found(curve, file.engine().equals(VLLM.kernels()));
        });
        if (found == null) {
            return new ExpertTimes(roofline::expertMicros, Double.POSITIVE_INFINITY);
        }
        var curve = found.curve;
        choice.note(SKEW);
        if (!gpu.isHopper() || !found.isOfVllm || !Ingredients.needsExpertFactor(dtype)) {
            return new ExpertTimes(curve, curve.max());
        }
        choice.note("experts in " + dtype + " x 1 at 256 to x 1.7 from 1024 tokens on: empirical, on Hopper");
        return new ExpertTimes(
                tokens -> curve.applyAsDouble(tokens) * Ingredients.hopperExpertFactor(tokens), curve.max());
    }

    /**
     * Returns times of MXFP4 weights with MXFP8 activations: of the model's experts, or else of those that are most
     * alike, at as many tokens for each expert. What exceeds the least time that was measured goes by the weights of all,
     * padded as the kernel has them.
     */
    private static @Nullable ExpertTimes withMxfp8Activations(TableChoice choice, Placement at) {
        var wanted = shape(at);
        String what = wanted + " in " + Dtypes.MXFP4_MXFP8;
        return choice.find(new TableChoice.Part(SETTING, "moe", "moe", what, Dtypes.MXFP4_MXFP8), file -> {
            var rows = rows(file.path(), Dtypes.MXFP4_MXFP8, at);
            var like = mostAlike(rows, wanted);
            var curve = like == null ? null : like.in(rows).curve("num_tokens");
            if (like == null || curve == null) {
                return null;
            }
            choice.note(SKEW);
            double fixed = leastMicros(like.in(ofDtype(file.path(), Dtypes.MXFP4_MXFP8)));
            double tokens = wanted.tokensPerExpert() / like.tokensPerExpert();
            int numParts = at.expertTensorSize();
            double weights = wanted.storedWeights(numParts) / like.storedWeights(numParts);
            if (!like.equals(wanted)) {
                choice.note(what + ": by the times of " + like + " at as many tokens each");
            }
            return new ExpertTimes(
                    n -> fixed + weights * (curve.applyAsDouble(n * tokens) - fixed), curve.max() / tokens);
        });
    }

    private static @Nullable Shape mostAlike(Rows rows, Shape wanted) {
        var best = new Shape[1];
        rows.forEach(row -> {
            var shape = Shape.of(row);
            double likeness = shape.likeness(wanted);
            if (likeness >= LEAST_LIKENESS && (best[0] == null || likeness > best[0].likeness(wanted))) {
                best[0] = shape;
            }
        });
        return best[0];
    }

    private static Shape shape(Placement at) {
        FeedForward ffn = at.llm().feedForward();
        return new Shape(at.llm().hiddenSize(), ffn.expertSize(), ffn.numExpertsPerToken(), ffn.numExperts());
    }

    private static double leastMicros(Rows rows) {
        var least = new double[] {Double.POSITIVE_INFINITY};
        rows.forEach(row -> least[0] = Math.min(least[0], row.micros()));
        return least[0];
    }

    private static Rows ofDtype(Path file, String dtype) {
        return Rows.read(file, COLUMNS).where("moe_dtype", dtype).where("distribution", Ingredients.DISTRIBUTION);
    }

    private static Rows rows(Path file, String dtype, Placement at) {
        return ofDtype(file, dtype)
                .where("moe_tp_size", at.expertTensorSize())
                .where("moe_ep_size", at.expertParallelSize());
    }
}
