package understudy.engine.speculation;

/** Method of making drafts (vLLM {@code speculative_config.method}), and what vLLM reserves for it. */
public enum SpeculationMethod {
    /** One token per request and step. */
    NONE,
    /** Looks for the last tokens further up, on the host: there may be no draft. */
    NGRAM,
    /** The same on the device. */
    NGRAM_GPU,
    /** Looks for the last tokens in suffix trees, on the host. */
    SUFFIX,
    /** Runs a smaller model. */
    DRAFT_MODEL,
    /** Runs a head on the hidden states of the target model. */
    EAGLE,
    EAGLE3,
    /** Runs layers that the target model was trained with. */
    MTP,
    /** Makes all drafts in one pass of a diffusion model. */
    DFLASH;

    /** Returns whether drafts are made on the host, which asynchronous scheduling cannot wait for. */
    public boolean isOnHost() {
        return this == NGRAM || this == SUFFIX;
    }

    /** Returns the settings for {@code numSpeculativeTokens} drafts per request and step, at least 1. */
    public SpeculationConfig config(int numSpeculativeTokens) {
        return switch (this) {
            case NONE -> SpeculationConfig.NONE;
            case NGRAM, NGRAM_GPU, SUFFIX -> new SpeculationConfig(numSpeculativeTokens, 0, 0, false);
            case DRAFT_MODEL -> new SpeculationConfig(numSpeculativeTokens, numSpeculativeTokens, 1, false);
            case EAGLE, EAGLE3, MTP -> new SpeculationConfig(numSpeculativeTokens, numSpeculativeTokens, 0, true);
            case DFLASH ->
                new SpeculationConfig(numSpeculativeTokens, numSpeculativeTokens + 1, numSpeculativeTokens, true);
        };
    }
}
