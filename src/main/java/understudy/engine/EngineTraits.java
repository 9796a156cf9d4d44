package understudy.engine;

import java.util.EnumSet;
import java.util.Set;

/**
 * Limits and features of an engine that others need to know, whichever family it is of.
 *
 * @param family name of its family
 * @param maxNumSeqs most requests that one step serves, at least 1
 * @param maxNumBatchedTokens most tokens that one step computes, at least 1
 * @param maxPrefillChunkTokens most tokens of one prompt that one step computes, at least 1
 * @param maxStepsInFlight planned steps that may be without a result at a time, at least 1
 * @param numSpeculativeTokens most drafts of a request in a step; 0 is no speculative decoding
 * @param features features that not every engine has
 */
public record EngineTraits(
        String family,
        int maxNumSeqs,
        int maxNumBatchedTokens,
        int maxPrefillChunkTokens,
        int maxStepsInFlight,
        int numSpeculativeTokens,
        Set<Feature> features) {
    /** Feature of some engines. */
    public enum Feature {
        /** Requests may name LoRA adapters. */
        ADAPTERS,
        /** Requests may have priorities. */
        PRIORITIES,
        /** A step may admit a request in place of less important ones, which lose theirs. */
        PREEMPTS_FOR_OTHERS,
        /** Calls are taken while steps are in flight, since their workers have handed these to their GPUs. */
        CALLS_IN_FLIGHT,
        /**
         * No more than {@code maxNumSeqs} requests run at a time, and each holds the blocks for what it has computed, and at
         * most those for tokens beyond its end besides.
         */
        BOUNDED_RUNNING,
        /** Runs are reported by the figures of streams, too, by which its users know it. */
        STREAMING_FIGURES,
        /** Its server speaks SGLang's dialect, and shows SGLang's metrics. */
        SGLANG_SERVER
    }

    /** Copies the features. */
    public EngineTraits {
        features = Set.copyOf(features);
    }

    /** Returns the traits of an engine that plans a step when the one before has ended, and computes prompts whole. */
    public static EngineTraits of(String family, int maxNumSeqs, int maxNumBatchedTokens) {
        return new EngineTraits(family, maxNumSeqs, maxNumBatchedTokens, maxNumBatchedTokens, 1, 0, Set.of());
    }

    /** Returns the same traits with a feature more, if a condition holds. */
    public EngineTraits with(Feature feature, boolean isOn) {
        if (!isOn) {
            return this;
        }
        var all = EnumSet.of(feature);
        all.addAll(features);
        return new EngineTraits(
                family,
                maxNumSeqs,
                maxNumBatchedTokens,
                maxPrefillChunkTokens,
                maxStepsInFlight,
                numSpeculativeTokens,
                all);
    }

    /** Returns whether the engine has a feature. */
    public boolean has(Feature feature) {
        return features.contains(feature);
    }
}
