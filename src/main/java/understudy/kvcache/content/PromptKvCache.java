package understudy.kvcache.content;

import java.util.Arrays;
import java.util.List;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.PrefixCacheEvent;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.kvcache.eviction.PrefixTable;

/**
 * The KV memory of an engine that caches whole prompts with their last logits, as roseinfer does ({@code PrefixCache}
 * and {@code KVBlockManager} of {@code engine.py}): a request finds all of its prompt, and has nothing to compute, or
 * none of it. Equal prompts share all their blocks, the last one included, until one of them writes into it: then the
 * writer gets a copy, unless it is alone.
 *
 * <p>Differs from roseinfer in two ways. A cached prompt holds no references of its own: its blocks stay findable until
 * they are given out again, as all blocks here do, so that memory and not a number of entries limits the cache. And a
 * request is admitted only if its longest answer will find room, where roseinfer fails in the middle of an answer;
 * blocks that running requests may still ask for are not given to others.
 */
public final class PromptKvCache extends PooledKvCache<PromptSequence, PromptConfig> {
    private static final Admission.Refused REFUSED = new Admission.Refused();

    private int numOwedBlocks;

    /** Creates an empty memory. It records no events, whatever the settings say: blocks alone mean nothing here. */
    public PromptKvCache(PromptConfig config) {
        super(config, new KvEventLog(false));
    }

    @Override
    public Admission admit(AdmissionRequest request) {
        var sequence = new PromptSequence(request.lookup(), config.hasher(), room);
        boolean isHit = mayRead(request.lookup()) && isCached(sequence);
        int numBlocks = sequence.numPromptBlocks();
        int numOwed = blocksFor(request.maxTotalTokens()) - numBlocks + (sequence.endsInsideBlock() ? 1 : 0);
        int numTaken = isHit ? countUnreferenced(sequence) : numBlocks;
        if (numTaken + numOwed > pool.numFree() - numOwedBlocks) {
            return REFUSED;
        }
        register(request.lookup().handle(), sequence);
        sequence.setNumOwedBlocks(numOwed);
        numOwedBlocks += numOwed;
        int numPromptTokens = sequence.numPromptTokens();
        int numCached = isHit ? numPromptTokens : 0;
        boolean findsOwn = isHit && attach(sequence);
        if (!isHit) {
            allocate(sequence);
        }
        count(request, numPromptTokens, numCached);
        var events = events(request.lookup(), numCached, findsOwn);
        return new Admission.Admitted(numCached, numPromptTokens - numCached, events);
    }

    private PrefixCacheEvents events(PrefixLookup lookup, int numCached, boolean findsOwn) {
        if (!mayRead(lookup)) {
            return PrefixCacheEvents.NONE;
        }
        var events = PrefixCacheEvents.ofContent(numCached, findsOwn);
        return numCached > 0 ? events.and(PrefixCacheEvent.FULL_HIT_NO_PREFILL_NEEDED) : events;
    }

    @Override
    public int[] match(List<PrefixLookup> lookups) {
        return lookups.stream()
                .mapToInt(lookup -> {
                    var sequence = new PromptSequence(lookup, config.hasher(), room);
                    return mayRead(lookup) && isCached(sequence) ? sequence.numPromptTokens() : 0;
                })
                .toArray();
    }

    /** Grants everything, since blocks for the longest answer were set aside at the admission. */
    @Override
    public int reserve(Reservation reservation) {
        for (int i = 0; i < reservation.size(); i++) {
            var sequence = known(reservation.handle(i));
            int blockIndex = (reservation.numSlots(i) - 1) / blockSize;
            if (blockIndex == sequence.numBlocks()) {
                sequence.append(takeOwed(sequence));
            } else if (pool.refCount(sequence.block(blockIndex)) > 1) {
                int copy = takeOwed(sequence);
                pool.release(sequence.block(blockIndex));
                sequence.replace(blockIndex, copy);
            }
        }
        return reservation.size();
    }

    @Override
    public void settle(Settlement settlement) {
        for (int i = 0; i < settlement.size(); i++) {
            var sequence = known(settlement.handle(i));
            boolean isUncached = sequence.numCachedBlocks() == 0;
            if (isUncached && settlement.numTokensToCache(i) >= sequence.numPromptTokens()) {
                cache(sequence);
            }
            if (settlement.isEnded(i)) {
                free(settlement.handle(i), settlement.lastStep(i));
            }
        }
    }

    @Override
    public void release(int handle, long lastStep) {
        var sequence = find(handle);
        if (sequence != null) {
            numOwedBlocks -= sequence.numOwedBlocks();
            sequence.setNumOwedBlocks(0);
        }
        super.release(handle, lastStep);
    }

    /** A prompt is cached when all of its blocks are. */
    private boolean isCached(PromptSequence sequence) {
        for (int i = sequence.numPromptBlocks() - 1; i >= 0; i--) {
            if (cachedBlock(sequence, i) == PrefixTable.NULL_BLOCK) {
                return false;
            }
        }
        return true;
    }

    private int cachedBlock(PromptSequence sequence, int index) {
        return pool.prefixTable().lookup(sequence.hashOf(index), sequence.homeOf(index));
    }

    private int countUnreferenced(PromptSequence sequence) {
        int count = 0;
        for (int i = 0; i < sequence.numPromptBlocks(); i++) {
            count += pool.refCount(cachedBlock(sequence, i)) == 0 ? 1 : 0;
        }
        return count;
    }

    /** Shares the blocks of an equal prompt, and returns whether the request's conversation alone has used them. */
    private boolean attach(PromptSequence sequence) {
        var cached = new int[sequence.numPromptBlocks()];
        Arrays.setAll(cached, i -> cachedBlock(sequence, i));
        return sequence.attach(pool, cached, cached.length);
    }

    private void allocate(PromptSequence sequence) {
        sequence.take(pool, sequence.numPromptBlocks());
        if (config.sharesWithinStep()) {
            cache(sequence);
            countStoredByPlan(sequence.numCachedBlocks());
        }
    }

    private void cache(PromptSequence sequence) {
        if (!config.enablePrefixCaching()) {
            return;
        }
        sequence.setNumCachedBlocks(sequence.numPromptBlocks());
        for (int i = 0; i < sequence.numPromptBlocks(); i++) {
            sequence.cache(pool, i);
        }
    }

    private int takeOwed(PromptSequence sequence) {
        sequence.setNumOwedBlocks(sequence.numOwedBlocks() - 1);
        numOwedBlocks--;
        return pool.take();
    }
}
