package understudy.kvcache.session;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.FullHit;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.prompt.BlockHasher;

/**
 * Lookup of the prefix that a request can continue: first in its session, then among the prefixes that all requests
 * share.
 */
final class SessionLookup {
    private static final long[] NO_HASHES = new long[0];

    private final SessionTable sessions;
    private final GlobalPrefixStore prefixes;
    private final BlockHasher hasher;
    private final boolean hasPrefixes;
    private final boolean decodesDirectly;

    SessionLookup(SessionConfig config, SessionTable sessions, GlobalPrefixStore prefixes) {
        this.sessions = sessions;
        this.prefixes = prefixes;
        hasher = config.hasher();
        hasPrefixes = config.globalPrefixes().isOn();
        decodesDirectly = config.fullHit() == FullHit.DECODE_DIRECTLY;
    }

    /**
     * Result of a lookup: a session, a stored prefix, or nothing.
     *
     * @param numCached tokens that it finds there
     */
    record Found(
            int numCached,
            SessionTable.@Nullable Entry session,
            GlobalPrefixStore.@Nullable Prefix prefix,
            PrefixCacheEvents events) {
        static final Found NOTHING = new Found(0, null, null, PrefixCacheEvents.of(PrefixCacheEvent.MISS_FULL));
    }

    Found find(SessionRequest request, PrefixLookup lookup) {
        if (!lookup.readsCache()) {
            return new Found(0, null, null, PrefixCacheEvents.NONE);
        }
        var turn = request.prompt().turn();
        var entry = turn.isConversationalTurn() ? sessions.find(turn.sessionId()) : null;
        if (entry == null) {
            return findPrefix(request, lookup, PrefixCacheEvents.NONE);
        }
        int numMatched = request.match(entry);
        if (numMatched > 0) {
            int numCached = cachedOf(numMatched, lookup.numTokens());
            return new Found(numCached, entry, null, PrefixCacheEvents.of(PrefixCacheEvent.CONVERSATIONAL_HIT));
        }
        boolean isUnexpected = numMatched == SessionTable.UNEXPECTED;
        return findPrefix(
                request,
                lookup,
                isUnexpected
                        ? PrefixCacheEvents.of(PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT)
                        : PrefixCacheEvents.NONE);
    }

    /** Returns the block hashes by which prefixes are stored; none if they are not. */
    long[] hashes(SessionRequest request) {
        return hasPrefixes ? request.prompt().blockHashes(hasher) : NO_HASHES;
    }

    private Found findPrefix(SessionRequest request, PrefixLookup lookup, PrefixCacheEvents before) {
        var prefix = prefixes.find(hashes(request));
        if (prefix == null) {
            return new Found(0, null, null, before.and(PrefixCacheEvent.MISS_FULL));
        }
        int numCached = cachedOf(prefix.length(), lookup.numTokens());
        var events = before.and(PrefixCacheEvent.CROSS_REQUEST_HIT);
        boolean isWhole = numCached == lookup.numTokens();
        return new Found(
                numCached, null, prefix, isWhole ? events.and(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED) : events);
    }

    private int cachedOf(int numFound, int numTokens) {
        return Math.min(numFound, decodesDirectly ? numTokens : numTokens - 1);
    }
}
