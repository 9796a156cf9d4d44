package understudy.kvcache.connector;

import org.jspecify.annotations.Nullable;

/**
 * Answer of a connector to a look-up.
 *
 * @param numTokens tokens that it can bring, behind those that are here; below 0 is {@link #LATER}
 * @param isAsync whether they come while other steps run, so that the request has to wait for them
 * @param source where they are; null if nothing is to be had, or nobody knows
 */
public record ExternalMatch(
        int numTokens, boolean isAsync, @Nullable KvSource source) {
    /** Nothing is to be had. */
    public static final ExternalMatch NONE = new ExternalMatch(0, false, null);

    /** It is not known yet: the request is passed over, and asked for again in the next step. */
    public static final ExternalMatch LATER = new ExternalMatch(-1, false, null);

    public boolean isLater() {
        return numTokens < 0;
    }
}
