package understudy.kvcache.connector;

import org.jspecify.annotations.Nullable;

/**
 * Answer of a connector to a look-up.
 *
 * @param numTokens tokens that it can bring, behind those that are here; below 0 is {@link #LATER}
 * @param isAsync whether they come while other steps run, so that the request has to wait for them
 * @param numHostTokens how many of them the host's memory had before it got the others from {@code source}
 * @param source memory or replica that has the others; null if there are none, or their place is unknown
 */
public record ExternalMatch(
        int numTokens,
        boolean isAsync,
        int numHostTokens,
        @Nullable KvSource source) {
    /** Nothing is to be had. */
    public static final ExternalMatch NONE = new ExternalMatch(0, false, null);

    /** It is not known yet: the request is passed over, and asked for again in the next step. */
    public static final ExternalMatch LATER = new ExternalMatch(-1, false, null);

    /** Creates a match of tokens that are all from one source. */
    public ExternalMatch(int numTokens, boolean isAsync, @Nullable KvSource source) {
        this(numTokens, isAsync, 0, source);
    }

    /** Returns how many of the tokens are from there. */
    public int numTokensFrom(KvSource where) {
        int numHost = where == KvSource.HOST ? numHostTokens : 0;
        return where == source ? numTokens - numHostTokens + numHost : numHost;
    }

    /** Returns the first {@code count} tokens of it. */
    public ExternalMatch cutTo(int count) {
        return new ExternalMatch(count, isAsync, Math.min(numHostTokens, count), source);
    }

    public boolean isLater() {
        return numTokens < 0;
    }
}
