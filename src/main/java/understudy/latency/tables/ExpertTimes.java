package understudy.latency.tables;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
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
    private static final String KERNEL = "kernel_source";
    private static final String TOKENS = "num_tokens";
    private static final Set<String> COLUMNS = Set.of(
            "moe_dtype",
            "distribution",
            "hidden_size",
            "inter_size",
            "topk",
            "num_experts",
            "moe_tp_size",
            "moe_ep_size",
            TOKENS,
            KERNEL);
    private static final double LEAST_LIKENESS = 0.75;

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

        /** Returns the weights of all experts, each in so many parts, as kernels store them. */
        double storedWeights(int numParts, Padding padding) {
            return Padding.up(hiddenSize, padding.hidden)
                    * Padding.up(interSize / numParts, padding.inter)
                    * numParts
                    * numExperts;
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

    /**
     * Multiples that kernels need the sizes of a part of an expert to be ({@code mxfp4.py} of vLLM).
     *
     * @param hidden of its inputs
     * @param inter of its width
     */
    private record Padding(double hidden, double inter) {
        static final Padding FLASHINFER = new Padding(256, 256);
        static final Padding MARLIN = new Padding(256, 128);

        static double up(double size, double multiple) {
            return multiple * Math.ceil(size / multiple);
        }
    }

    /** Returns the times that tables have, or those of the formulas. */
    static ExpertTimes of(TableChoice choice, GpuData gpu, Placement at, LayerTime roofline) {
        String dtype = Dtypes.ofExperts(at.llm().expertWeights()).orElse("");
        if (at.llm().expertWeights() == WeightFormat.MXFP4_MARLIN) {
            var times = byMostAlike(choice, at, dtype, MoeBackend.MARLIN, Padding.MARLIN);
            if (times != null) {
                return times;
            }
            choice.addMissing(SETTING, "Marlin's kernels of experts in " + dtype);
            return new ExpertTimes(roofline::expertMicros, Double.POSITIVE_INFINITY);
        }
        if (at.llm().expertWeights() == WeightFormat.MXFP4
                && at.mxfp4Activations().areMxfp8(gpu)) {
            var times = byMostAlike(choice, at, Dtypes.MXFP4_MXFP8, MoeBackend.AUTO, Padding.FLASHINFER);
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
        var backend = backend(choice, gpu, at, dtype);
        var curve = backend == MoeBackend.AUTO
                ? null
                : choice.find(part(what + ", " + backend.id(), dtype), file -> {
                    var ofBackend = rows(file.path(), dtype, at).containing(KERNEL, backend.namesInTables());
                    return shape.in(ofBackend).curve(TOKENS);
                });
        if (curve != null) {
            choice.note(SKEW);
            return new ExpertTimes(curve, curve.max());
        }
        var other = choice.choose(
                part(what, dtype),
                file -> shape.in(rows(file.path(), dtype, at)).curve(TOKENS));
        if (other == null) {
            return new ExpertTimes(roofline::expertMicros, Double.POSITIVE_INFINITY);
        }
        choice.note(SKEW);
        if (backend == MoeBackend.FLASHINFER_CUTLASS && gpu.isHopper()) {
            choice.note(
                    "experts in flashinfer_cutlass by the times of others x 1 at 256 to x 1.4 from 1024 tokens on: empirical");
            return new ExpertTimes(
                    tokens -> other.applyAsDouble(tokens) * Ingredients.cutlassExpertFactor(tokens), other.max());
        }
        if (backend != MoeBackend.AUTO) {
            choice.warn(
                    "no times of experts in " + dtype + " by " + backend.id() + "; those of other kernels are taken");
        }
        return new ExpertTimes(other, other.max());
    }

    /** A scenario can name the kernels; those of another engine than vLLM are what its tables have. */
    private static MoeBackend backend(TableChoice choice, GpuData gpu, Placement at, String dtype) {
        String version = choice.vllmVersion();
        return at.moeBackend() != MoeBackend.AUTO || version == null
                ? at.moeBackend()
                : MoeBackend.chosenByVllm(version, gpu, dtype, at.expertParallelSize() > 1);
    }

    private static TableChoice.Part part(String what, String dtype) {
        return new TableChoice.Part(SETTING, "moe", "moe", what, dtype);
    }

    /**
     * Returns times of MXFP4 experts in kernels of a kind: of the model's experts, or else of those that are most alike, at
     * as many tokens for each expert. What exceeds the least time that was measured goes by the weights of all, padded as
     * the kernels have them; the least time of kernels with a name goes by the number of experts.
     *
     * @param kernels which of them, or AUTO for all
     */
    private static @Nullable ExpertTimes byMostAlike(
            TableChoice choice, Placement at, String dtype, MoeBackend kernels, Padding padding) {
        var wanted = shape(at);
        boolean hasKernels = kernels != MoeBackend.AUTO;
        String what = wanted + " in " + dtype + (hasKernels ? ", " + kernels.id() : "");
        return choice.find(part(what, dtype), file -> {
            var all = ofDtype(file.path(), dtype).containing(KERNEL, kernels.namesInTables());
            var rows = ofRank(all, at);
            var like = mostAlike(rows, wanted);
            var curve = like == null ? null : like.in(rows).curve(TOKENS);
            if (like == null || curve == null) {
                return null;
            }
            choice.note(SKEW);
            double likeFixed = leastMicros(like.in(all));
            double fixed = hasKernels
                    ? leastMicros(
                            withDistribution(file.path()).containing(KERNEL, kernels.namesInTables()),
                            wanted.numExperts)
                    : likeFixed;
            double tokens = wanted.tokensPerExpert() / like.tokensPerExpert();
            int numParts = at.expertTensorSize();
            double weights = wanted.storedWeights(numParts, padding) / like.storedWeights(numParts, padding);
            if (!like.equals(wanted)) {
                choice.note(what + ": by the times of " + like + " at as many tokens each");
            }
            return new ExpertTimes(
                    n -> fixed + weights * (curve.applyAsDouble(n * tokens) - likeFixed), curve.max() / tokens);
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

    /** Returns the least time with so many experts, which lies on a line through those with the fewest and the most. */
    private static double leastMicros(Rows rows, double numExperts) {
        var least = new TreeMap<Double, Double>();
        rows.forEach(row -> least.merge(row.number("num_experts"), row.micros(), Math::min));
        var fewest = least.firstEntry();
        var most = least.lastEntry();
        double perExpert = fewest.equals(most)
                ? 0
                : Math.max(0, (most.getValue() - fewest.getValue()) / (most.getKey() - fewest.getKey()));
        return Math.max(0, fewest.getValue() + perExpert * (numExperts - fewest.getKey()));
    }

    private static Rows ofDtype(Path file, String dtype) {
        return withDistribution(file).where("moe_dtype", dtype);
    }

    private static Rows withDistribution(Path file) {
        return Rows.read(file, COLUMNS).where("distribution", Ingredients.DISTRIBUTION);
    }

    private static Rows rows(Path file, String dtype, Placement at) {
        return ofRank(ofDtype(file, dtype), at);
    }

    private static Rows ofRank(Rows rows, Placement at) {
        return rows.where("moe_tp_size", at.expertTensorSize()).where("moe_ep_size", at.expertParallelSize());
    }
}
