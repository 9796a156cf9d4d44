package understudy.kvcache.content;

import java.util.List;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.FullHit;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.HashRun;

/**
 * The KV memory of vLLM V1 ({@code kv_cache_manager.py}), for one group of full-attention layers.
 *
 * <p>Blocks are put into the prefix table when they are allocated, before the model has run, so a later request of the
 * same step can hit them, unless {@link ContentConfig#sharesWithinStep} says otherwise.
 */
public class KvCacheManager extends PooledKvCache<KvSequence, ContentConfig> {
    private static final Admission.Refused REFUSED = new Admission.Refused();

    private final RunEventLog log;
    private final int numTokensToRecompute;
    private final boolean cachesGenerated;
    private final RememberedRefusal refusal = new RememberedRefusal();
    final PrefixHits hits;
    private final ConversationEnds conversationEnds;

    /** Creates an empty cache. */
    public KvCacheManager(ContentConfig config) {
        this(config, new RunEventLog(config.recordsEvents()));
    }

    private KvCacheManager(ContentConfig config, RunEventLog log) {
        super(config, log);
        this.log = log;
        numTokensToRecompute = config.fullHit() == FullHit.RECOMPUTE_LAST_TOKEN ? 1 : 0;
        cachesGenerated = config.cachesGeneratedBlocks();
        hits = new PrefixHits(pool, config.dropsLastHit());
        conversationEnds = new ConversationEnds(config.numGpuBlocks());
    }

    @Override
    public Admission admit(AdmissionRequest request) {
        if (refusal.stillHolds(request, pool)) {
            return REFUSED;
        }
        var sequence = lookUp(request.lookup());
        int numHitTokens = hits.size() * blockSize;
        int scheduled = request.tokensNow(numHitTokens);
        int numSlots = request.numSlots(numHitTokens, scheduled);
        if (scheduled == 0 || !fits(request, sequence, numSlots)) {
            return REFUSED;
        }
        boolean isUnexpected = conversationEnds.isUnexpected(sequence, pool.prefixTable());
        boolean findsOwn = attach(sequence, numSlots, Math.min(numHitTokens + scheduled, request.numTokens()));
        count(request, request.numTokens(), numHitTokens);
        var events = events(request, numHitTokens, findsOwn, isUnexpected);
        return new Admission.Admitted(numHitTokens, scheduled, events);
    }

    @Override
    public int[] match(List<PrefixLookup> lookups) {
        var numTokens = new int[lookups.size()];
        for (int i = 0; i < numTokens.length; i++) {
            lookUp(lookups.get(i));
            numTokens[i] = hits.size() * blockSize;
        }
        return numTokens;
    }

    @Override
    public int reserve(Reservation reservation) {
        for (int i = 0; i < reservation.size(); i++) {
            var sequence = known(reservation.handle(i));
            int numNeeded = blocksFor(reservation.numSlots(i)) - sequence.numBlocks();
            if (numNeeded > pool.numFree()) {
                return i;
            }
            sequence.take(pool, numNeeded);
            cacheAhead(sequence, reservation.numTokensToCache(i));
        }
        return reservation.size();
    }

    @Override
    public void settle(Settlement settlement) {
        for (int i = 0; i < settlement.size(); i++) {
            int handle = settlement.handle(i);
            if (settlement.numTokensToCache(i) > 0) {
                cache(known(handle), settlement.numTokensToCache(i));
            }
            if (settlement.isEnded(i)) {
                conversationEnds.note(known(handle), settlement.numTokens(i));
                end(handle, settlement.numTokens(i), settlement.lastStep(i));
            }
        }
    }

    /** Frees the blocks of a request whose answer is complete. */
    void end(int handle, int numTokens, long lastStep) {
        free(handle, lastStep);
    }

    @Override
    public void free(int handle, long lastStep) {
        super.free(handle, lastStep);
        refusal.forget(handle);
    }

    @Override
    public void resize(int numGpuBlocks) {
        pool.resize(Math.min(numGpuBlocks, pool.numGpuBlocks()));
    }

    @Override
    public int numFreeBlocks() {
        return pool.numFree();
    }

    KvSequence sequenceOf(PrefixLookup request) {
        var sequence = find(request.handle());
        if (sequence == null) {
            sequence = create(request);
            register(request.handle(), sequence);
        }
        return sequence;
    }

    KvSequence create(PrefixLookup request) {
        return new KvSequence(request.prompt(), request.output(), config.hasher(), room);
    }

    /** Finds the leading full blocks that are cached; in vLLM never the last token, since it must be computed. */
    KvSequence lookUp(PrefixLookup request) {
        var sequence = sequenceOf(request);
        hits.find(sequence, mayRead(request) ? maxHits(request.numTokens()) : 0);
        return sequence;
    }

    private int maxHits(int numTokens) {
        return (numTokens - numTokensToRecompute) / blockSize;
    }

    PrefixCacheEvents events(AdmissionRequest request, int numHitTokens, boolean findsOwn, boolean isUnexpected) {
        if (!mayRead(request.lookup())) {
            return PrefixCacheEvents.NONE;
        }
        var events = PrefixCacheEvents.ofContent(numHitTokens, findsOwn);
        if (isUnexpected && !findsOwn) {
            events = events.and(PrefixCacheEvent.CONVERSATIONAL_MISS_UNEXPECTED_PROMPT);
        }
        return numHitTokens == request.numTokens() ? events.and(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED) : events;
    }

    private boolean fits(AdmissionRequest request, KvSequence sequence, int numSlots) {
        int numEvictable = hits.countFree();
        int numAvailable =
                pool.numFree() - (request.isAnythingRunning() ? config.blocks().watermarkBlocks() : 0);
        if (request.reserveFullSequence()) {
            int numBlocks = blocksFor(request.numTokens());
            if (Math.max(0, numBlocks - hits.size()) + numEvictable > numAvailable) {
                rememberRefusal(request, sequence, numBlocks, numEvictable);
                return false;
            }
        }
        return Math.max(0, blocksFor(numSlots) - hits.size()) + numEvictable <= numAvailable;
    }

    private void rememberRefusal(AdmissionRequest request, KvSequence sequence, int numBlocks, int numEvictable) {
        int numFound = hits.numFound();
        boolean couldHitMore = mayRead(request.lookup()) && numFound < maxHits(request.numTokens());
        long missedHash = couldHitMore ? sequence.hashOf(numFound) : 0;
        int missedHome = couldHitMore ? sequence.homeOf(numFound) : 0;
        int numHitsInUse = hits.size() - numEvictable;
        refusal.remember(request, pool, numBlocks, numHitsInUse, couldHitMore, missedHash, missedHome);
    }

    /**
     * Touches the hits before it takes new blocks, so that none of them is given out below.
     *
     * @return whether any hit belonged to the request's conversation alone
     */
    boolean attach(KvSequence sequence, int numSlots, int numTokensToCache) {
        boolean findsOwn = hits.attach(sequence);
        sequence.take(pool, blocksFor(numSlots) - hits.size());
        cacheAhead(sequence, numTokensToCache);
        return findsOwn;
    }

    /** Caches the blocks that the step being planned will complete, if requests of one step share them. */
    void cacheAhead(KvSequence sequence, int numTokens) {
        if (config.sharesWithinStep()) {
            countStoredByPlan(cache(sequence, numTokens));
        }
    }

    /** Puts newly full blocks into the prefix table, and returns how many. */
    int cache(KvSequence sequence, int numTokens) {
        int numFull = numFull(sequence, numTokens);
        int first = sequence.numCachedBlocks();
        if (numFull <= first) {
            return 0;
        }
        sequence.setNumCachedBlocks(numFull);
        int numPromoted = 0;
        int firstStored = first;
        for (int i = first; i < numFull; i++) {
            if (config.promotesFullBlocks() && promote(sequence, i)) {
                recordStored(sequence, firstStored, i);
                firstStored = i + 1;
                numPromoted++;
            } else {
                sequence.cache(pool, i);
            }
        }
        recordStored(sequence, firstStored, numFull);
        return numFull - first - numPromoted;
    }

    /** Returns how many blocks so many known tokens fill that may be found. */
    private int numFull(KvSequence sequence, int numTokens) {
        if (!config.enablePrefixCaching()) {
            return 0;
        }
        return (cachesGenerated ? numTokens : Math.min(numTokens, sequence.numPromptTokens())) / blockSize;
    }

    /** Swaps a block that has become full for a cached one with the same content, if there is one. */
    private boolean promote(KvSequence sequence, int index) {
        int cached = pool.prefixTable().lookup(sequence.hashOf(index), sequence.homeOf(index));
        if (cached == PrefixTable.NULL_BLOCK) {
            return false;
        }
        pool.touch(cached, sequence.turn().sessionId());
        pool.release(sequence.block(index));
        sequence.replace(index, cached);
        return true;
    }

    private void recordStored(KvSequence sequence, int first, int end) {
        if (!log.isEnabled() || first == end) {
            return;
        }
        long parentHash = first > 0 ? sequence.hashOf(first - 1) : 0;
        var run = new HashRun(sequence.path(end), first, end);
        log.stored(sequence.stored(run, parentHash, first * blockSize, null), run, sequence);
    }
}
