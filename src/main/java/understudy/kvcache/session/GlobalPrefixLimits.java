package understudy.kvcache.session;

/**
 * Limits on the content of the {@link GlobalPrefixStore}.
 *
 * @param minLength fewest tokens of a prefix, and of what it adds to one that is there already; at least 1
 * @param minUses requests that must have begun with a prefix before it is stored, at least 1
 * @param maxTokens most tokens of all stored prefixes; 0 switches the store off
 */
public record GlobalPrefixLimits(int minLength, int minUses, long maxTokens) {
    /** No store. */
    public static final GlobalPrefixLimits OFF = new GlobalPrefixLimits(1, 1, 0);

    public boolean isOn() {
        return maxTokens > 0;
    }
}
