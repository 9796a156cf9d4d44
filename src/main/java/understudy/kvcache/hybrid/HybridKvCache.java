package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.List;
import java.util.stream.IntStream;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvGroups;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.PromptCuts;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.content.PooledKvCache;

/**
 * The KV memory of vLLM V1 for a model whose layers do not all need the same part of a sequence: each group has its own
 * block tables, and all take their blocks from one pool. Blocks that no later token needs are given back on the way.
 */
public final class HybridKvCache extends PooledKvCache<HybridSequence, HybridConfig> {
    private static final Admission.Refused REFUSED = new Admission.Refused();

    private final KvGroups settings;
    private final List<GroupManager> groups;
    private final GroupLookup lookup;
    private final GroupKeys keys;
    private final PromptCuts cuts;
    private final int alignment;

    /** Creates an empty cache. */
    public HybridKvCache(HybridConfig config) {
        this(config, new GroupKeys(config.recordsEvents()));
    }

    private HybridKvCache(HybridConfig config, GroupKeys keys) {
        super(config, keys);
        this.keys = keys;
        settings = config.groups();
        groups = IntStream.range(0, settings.groups().size())
                .mapToObj(i -> GroupManager.create(i, config, settings, pool, keys))
                .toList();
        cuts = config.cuts();
        lookup = new GroupLookup(groups, config.dropsLastHit());
        alignment = groups.size() == 1 ? 1 : settings.blockSize();
    }

    @Override
    public Admission admit(AdmissionRequest request) {
        keys.begin(request.step());
        var sequence = lookUp(request.lookup());
        int numHitTokens = lookup.numTokens();
        int scheduled = cut(request, sequence, numHitTokens);
        int numSlots = Math.min(request.numSlots(numHitTokens, scheduled), config.maxModelLen());
        if (scheduled == 0 || !fits(request, sequence, numSlots)) {
            return REFUSED;
        }
        boolean findsOwn = attach(sequence);
        groups.forEach(group -> group.grow(sequence, numSlots));
        cacheAhead(sequence, Math.min(numHitTokens + scheduled, request.numTokens()));
        count(request, request.numTokens(), numHitTokens);
        return new Admission.Admitted(
                numHitTokens,
                ExternalMatch.NONE,
                scheduled,
                mayRead(request.lookup())
                        ? PrefixCacheEvents.ofContent(numHitTokens, findsOwn)
                        : PrefixCacheEvents.NONE,
                sequence.numJunctionTokens());
    }

    private int cut(AdmissionRequest request, HybridSequence sequence, int from) {
        return cuts.cut(
                request.tokensNow(from),
                from,
                sequence.numPromptTokens(),
                request.numTokens(),
                sequence.numJunctionTokens());
    }

    private boolean fits(AdmissionRequest request, HybridSequence sequence, int numSlots) {
        int numAvailable =
                pool.numFree() - (request.isAnythingRunning() ? config.blocks().watermarkBlocks() : 0);
        int numTokens = Math.min(request.numTokens(), config.maxModelLen());
        return (!request.reserveFullSequence() || numNeeded(sequence, numTokens, true) <= numAvailable)
                && numNeeded(sequence, numSlots, false) <= numAvailable;
    }

    private int numNeeded(HybridSequence sequence, int numTokens, boolean isWhole) {
        int sum = 0;
        for (var group : groups) {
            var hits = lookup.hits(group.index());
            sum += group.numNeeded(sequence, hits, numTokens, lookup.numTokens(), isWhole);
        }
        return sum;
    }

    /** Touches the hits of all groups before any takes new blocks, so that none of them is given out. */
    private boolean attach(HybridSequence sequence) {
        boolean findsOwn = false;
        if (!lookup.isEmpty()) {
            for (var group : groups) {
                findsOwn |= group.attach(sequence, lookup.hits(group.index()), lookup.numTokens());
            }
        }
        return findsOwn;
    }

    @Override
    public int[] match(List<PrefixLookup> lookups) {
        return lookups.stream()
                .mapToInt(request -> {
                    lookUp(request);
                    return lookup.numTokens();
                })
                .toArray();
    }

    private HybridSequence lookUp(PrefixLookup request) {
        var sequence = find(request.handle());
        if (sequence == null) {
            sequence = new HybridSequence(request, config.hasher(), room, groups);
            register(request.handle(), sequence);
        }
        if (mayRead(request)) {
            lookup.find(sequence, request.numTokens() - 1);
        } else {
            lookup.clear();
        }
        sequence.setNumJunctionTokens(lookup.numJunctionTokens());
        return sequence;
    }

    @Override
    public int reserve(Reservation reservation) {
        keys.begin(reservation.step());
        lookup.clear();
        for (int i = 0; i < reservation.size(); i++) {
            var sequence = known(reservation.handle(i));
            int numSlots = Math.min(reservation.numSlots(i), config.maxModelLen());
            for (var group : groups) {
                group.dropSkipped(sequence, reservation.numExecutedTokens(i));
            }
            if (numNeeded(sequence, numSlots, false) > pool.numFree()) {
                return i;
            }
            groups.forEach(group -> group.grow(sequence, numSlots));
            cacheAhead(sequence, reservation.numTokensToCache(i));
        }
        return reservation.size();
    }

    @Override
    public void settle(Settlement settlement) {
        for (int i = 0; i < settlement.size(); i++) {
            if (settlement.numTokensToCache(i) > 0) {
                cache(known(settlement.handle(i)), settlement.numTokensToCache(i));
            }
            if (settlement.isEnded(i)) {
                free(settlement.handle(i), settlement.lastStep(i));
            }
        }
    }

    private void cacheAhead(HybridSequence sequence, int numTokens) {
        if (config.sharesWithinStep()) {
            countStoredByPlan(cache(sequence, numTokens));
        }
    }

    /** Makes blocks findable up to where all groups can continue, and returns how many. */
    private int cache(HybridSequence sequence, int numTokens) {
        if (!config.enablePrefixCaching()) {
            return 0;
        }
        int aligned = numTokens - numTokens % alignment;
        int count = 0;
        for (var group : groups) {
            int numMore = aligned > 0 ? group.numDropped * group.blockSize : 0;
            count += group.cache(sequence, Math.min(numTokens, aligned + numMore));
        }
        return count;
    }

    @Override
    protected long numEvicted() {
        return super.numEvicted() + keys.numSecondKeysLost();
    }

    @Override
    public long[] blockHashes() {
        var all = new LongArrayList(super.blockHashes());
        keys.forEachSecondKey(pool.prefixTable(), all::add);
        return all.toLongArray();
    }
}
