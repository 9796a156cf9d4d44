package understudy.kvcache;

import java.util.Arrays;
import java.util.List;

/**
 * The {@link PrefixCacheEvent}s of one request; none if it made no lookup.
 *
 * @param mask one bit for each, below {@link #MASKS}
 */
public record PrefixCacheEvents(int mask) {
    /** No lookup. */
    public static final PrefixCacheEvents NONE = new PrefixCacheEvents(0);

    /** Number of different masks. */
    public static final int MASKS = 32;

    private static final PrefixCacheEvent[] ALL = PrefixCacheEvent.values();

    /** Returns a set of some events. */
    public static PrefixCacheEvents of(PrefixCacheEvent... events) {
        var set = NONE;
        for (var event : events) {
            set = set.and(event);
        }
        return set;
    }

    /**
     * Returns the outcome of a lookup in a content-addressed cache.
     *
     * @param numCachedTokens leading tokens that were found
     * @param findsOwn whether any of them belong to the conversation that the request continues, and to no other
     */
    public static PrefixCacheEvents ofContent(int numCachedTokens, boolean findsOwn) {
        if (numCachedTokens == 0) {
            return of(PrefixCacheEvent.MISS_FULL);
        }
        return of(findsOwn ? PrefixCacheEvent.CONVERSATIONAL_HIT : PrefixCacheEvent.CROSS_REQUEST_HIT);
    }

    /** Returns these events and one more. */
    public PrefixCacheEvents and(PrefixCacheEvent event) {
        return new PrefixCacheEvents(mask | event.bit());
    }

    public boolean contains(PrefixCacheEvent event) {
        return (mask & event.bit()) != 0;
    }

    public boolean isEmpty() {
        return mask == 0;
    }

    /** Returns whether anything was found. */
    public boolean isHit() {
        return contains(PrefixCacheEvent.CONVERSATIONAL_HIT) || contains(PrefixCacheEvent.CROSS_REQUEST_HIT);
    }

    /** Returns the events in the order in which they came about. */
    public List<PrefixCacheEvent> list() {
        return Arrays.stream(ALL).filter(this::contains).toList();
    }
}
