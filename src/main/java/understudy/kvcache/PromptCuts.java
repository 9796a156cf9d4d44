package understudy.kvcache;

/**
 * Places at which a prompt is cut, so that its state can be cached there (vLLM {@code _mamba_block_aligned_split}).
 *
 * @param unit tokens that fill whole blocks of all groups; 0 if prompts are not cut
 * @param maxTokensPerChunk most tokens of a prompt that one step may compute, at least 1
 * @param dropsLastHit whether a hit loses its last block
 */
public record PromptCuts(int unit, int maxTokensPerChunk, boolean dropsLastHit) {
    /** No cuts at all. */
    public static final PromptCuts NONE = new PromptCuts(0, 1, false);

    /**
     * Returns how many of {@code numTokens} tokens to compute.
     *
     * @param from tokens computed before
     * @param numKnown tokens known, of which the prompt has {@code numPrompt}
     * @param junction token at which a cached prefix ended for some groups only, or 0
     */
    public int cut(int numTokens, int from, int numPrompt, int numKnown, int junction) {
        int stop = Math.max(numPrompt, numKnown - 1);
        if (unit == 0 || from >= stop || numTokens <= 0) {
            return numTokens;
        }
        int end = from + numTokens;
        int aligned = end / unit * unit;
        if (end < stop && (aligned > from || unit <= maxTokensPerChunk)) {
            end = aligned;
        }
        int lastWhole = numKnown / unit * unit - (dropsLastHit ? unit : 0);
        int cut = nearest(end, from, from % unit == 0 ? 0 : (from / unit + 1) * unit);
        cut = nearest(cut, from, lastWhole);
        boolean hasJunction = from < junction && junction < end;
        cut = nearest(cut, from, hasJunction ? from + (junction - from) / unit * unit : 0);
        return Math.max(0, cut - from);
    }

    private static int nearest(int end, int from, int stop) {
        return from < stop && stop < end ? stop : end;
    }
}
