package understudy.kvcache.session;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntLists;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.KvSnapshot;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.prompt.Prompt;

/**
 * Session cache: a memory whose prefixes are found by session. A follow-up turn goes on from all that is cached of its
 * session, to the token, and other requests from a prefix of the {@link GlobalPrefixStore}. Content that is only cached
 * gives way to requests, the least recently used first.
 *
 * <p>Deviations: a follow-up turn must have the tokens that are cached of its session, where the model that this
 * follows compares lengths only; a turn that has lost the oldest part of its conversation goes on from the rest of what
 * is cached, as if positions did not matter; and a stored prefix can be hit as soon as its blocks are scheduled, as in
 * vLLM.
 */
public final class SessionKvCache implements KvCache {
    private static final Admission.Refused REFUSED = new Admission.Refused();

    private final SessionConfig config;
    private final int blockSize;
    private final BlockLedger ledger;
    private final SessionTable sessions = new SessionTable();
    private final GlobalPrefixStore prefixes;
    private final SessionLookup lookups;
    private final SessionRequests live = new SessionRequests();
    private PrefixCacheStats stats = PrefixCacheStats.NONE;

    public SessionKvCache(SessionConfig config) {
        this.config = config;
        blockSize = config.blockSize();
        ledger = BlockLedger.create(config.mode(), config.numGpuBlocks() - 1, blockSize);
        prefixes = new GlobalPrefixStore(config.globalPrefixes(), blockSize);
        lookups = new SessionLookup(config, sessions, prefixes);
    }

    /**
     * Admits a request to what it goes on from, or, where that leaves no room for a request that is alone, to nothing: what a
     * request uses a part of is kept whole, and no other request would ever make room. There is no room if the admission is
     * refused, or if the request has been preempted before and could be again.
     */
    @Override
    public Admission admit(AdmissionRequest request) {
        var candidate = live.of(request.lookup());
        var found = lookups.find(candidate, request.lookup());
        boolean isAlone = !request.isAnythingRunning();
        if (isAlone && request.isResumed() && !leavesRoom(found, candidate, request.maxTotalTokens())) {
            return admit(request, candidate, SessionLookup.Found.NOTHING);
        }
        var admission = admit(request, candidate, found);
        boolean isStuck = isAlone && admission instanceof Admission.Refused;
        return isStuck ? admit(request, candidate, SessionLookup.Found.NOTHING) : admission;
    }

    private boolean leavesRoom(SessionLookup.Found found, SessionRequest candidate, int numTokens) {
        var blocks = share(found, candidate.prompt());
        boolean hasRoom = blocks.numMissing(limited(numTokens)) <= ledger.numAvailable();
        blocks.release();
        return hasRoom;
    }

    private Admission admit(AdmissionRequest request, SessionRequest candidate, SessionLookup.Found found) {
        int scheduled = request.tokensNow(found.numCached());
        if (scheduled == 0) {
            return REFUSED;
        }
        int numComputedAfter = Math.min(found.numCached() + scheduled, request.numTokens());
        var blocks = share(found, candidate.prompt());
        int numToFit = request.reserveFullSequence() ? request.numTokens() : numComputedAfter;
        int spare = request.isAnythingRunning() ? config.blocks().watermarkBlocks() : 0;
        if (blocks.numMissing(limited(numToFit)) + spare > ledger.numAvailable()) {
            blocks.release();
            return REFUSED;
        }
        attach(candidate, found, blocks, request);
        grow(candidate, numComputedAfter);
        stats = stats.plus(request.isResumed(), request.numTokens(), found.numCached());
        return new Admission.Admitted(found.numCached(), scheduled, found.events());
    }

    @Override
    public int[] match(List<PrefixLookup> questions) {
        return questions.stream()
                .mapToInt(lookup -> lookups.find(live.of(lookup), lookup).numCached())
                .toArray();
    }

    @Override
    public int reserve(Reservation reservation) {
        for (int i = 0; i < reservation.size(); i++) {
            var request = live.known(reservation.handle(i));
            int numComputed = reservation.numSlots(i);
            if (Objects.requireNonNull(request.blocks).numMissing(limited(numComputed)) > ledger.numAvailable()) {
                return i;
            }
            grow(request, numComputed);
        }
        return reservation.size();
    }

    @Override
    public void settle(Settlement settlement) {
        for (int i = 0; i < settlement.size(); i++) {
            if (settlement.isEnded(i)) {
                int handle = settlement.handle(i);
                end(live.known(handle), settlement.numTokens(i), settlement.atNanos());
                free(handle, settlement.lastStep(i));
            }
        }
    }

    @Override
    public void release(int handle, long lastStep) {
        var request = live.find(handle);
        if (request == null || request.blocks == null) {
            return;
        }
        request.blocks.release();
        request.blocks = null;
        request.numBlocksToStore = 0;
        if (request.prefix != null) {
            prefixes.release(request.prefix);
            request.prefix = null;
        }
    }

    @Override
    public void free(int handle, long lastStep) {
        release(handle, lastStep);
        live.remove(handle);
    }

    @Override
    public boolean resetPrefixCache() {
        if (usage() > 0) {
            return false;
        }
        sessions.clear();
        prefixes.clear();
        return true;
    }

    @Override
    public double usage() {
        return 1 - (double) ledger.numAvailable() / (config.numGpuBlocks() - 1);
    }

    @Override
    public KvBlockCounts blockCounts() {
        int numBlocks = config.numGpuBlocks() - 1;
        int numAvailable = ledger.numAvailable();
        return new KvBlockCounts(numBlocks, numBlocks - numAvailable, numAvailable - ledger.numFree());
    }

    @Override
    public PrefixCacheStats stats() {
        return stats;
    }

    @Override
    public KvSnapshot snapshot(IntList handles) {
        var tables = new ArrayList<IntList>(handles.size());
        for (int i = 0; i < handles.size(); i++) {
            var blocks = live.known(handles.getInt(i)).blocks;
            tables.add(blocks == null ? IntLists.EMPTY_LIST : blocks.blockIds());
        }
        return new KvSnapshot(tables, ledger.numAvailable(), 0, 0);
    }

    @Override
    public KvCacheAudit audit() {
        var cached = sessions.holdings();
        cached.addAll(prefixes.holdings());
        return ledger.audit(live.holdings(), cached);
    }

    /** Returns the cache entry of a session, or null if nothing is cached of it. */
    @Nullable SessionCacheInfo session(long sessionId) {
        var entry = sessions.find(sessionId);
        return entry == null ? null : entry.info();
    }

    GlobalPrefixStore prefixes() {
        return prefixes;
    }

    private BlockHolding share(SessionLookup.Found found, Prompt prompt) {
        if (found.session() != null) {
            return found.session().blocks().share(found.session().leftOut(prompt) / blockSize, found.numCached());
        }
        return found.prefix() != null ? found.prefix().blocks().share(0, found.numCached()) : ledger.open();
    }

    private void attach(
            SessionRequest request, SessionLookup.Found found, BlockHolding blocks, AdmissionRequest question) {
        request.blocks = blocks;
        request.prefix = found.prefix();
        request.admittedNanos = question.atNanos();
        if (found.prefix() != null) {
            prefixes.acquire(found.prefix(), question.atNanos());
        }
        if (found.session() == null && question.lookup().readsCache() && !question.isResumed()) {
            request.numBlocksToStore = prefixes.count(lookups.hashes(request), found.numCached() / blockSize);
        }
    }

    /** Takes the missing blocks, evicting cached ones if need be, and stores a prefix that is complete now. */
    private void grow(SessionRequest request, int numComputed) {
        var blocks = Objects.requireNonNull(request.blocks);
        int numTokens = limited(numComputed);
        int numMissing = blocks.numMissing(numTokens);
        while (ledger.numFree() < numMissing) {
            evictOldest();
        }
        blocks.grow(numTokens);
        int numToStore = request.numBlocksToStore;
        if (numToStore > 0 && numComputed >= numToStore * blockSize) {
            request.numBlocksToStore = 0;
            store(request, blocks, numToStore);
        }
    }

    private void store(SessionRequest request, BlockHolding blocks, int numBlocks) {
        long hash = lookups.hashes(request)[numBlocks - 1];
        int length = numBlocks * blockSize;
        if (prefixes.makeRoom(hash, length)) {
            prefixes.put(
                    new GlobalPrefixStore.Prefix(hash, length, blocks.keepAsPrefix(numBlocks), request.admittedNanos));
        }
    }

    private void evictOldest() {
        var session = sessions.oldestEvictable();
        var unused = prefixes.oldestEvictable();
        if (session != null && (unused == null || session.info().lastUpdateNanos() <= unused.lastAccessNanos())) {
            sessions.drop(session);
            return;
        }
        // A request that computes the last token of a prefix again does not hold its last block, so that block can be
        // freed.
        var prefix = unused != null ? unused : prefixes.oldestInUse();
        if (prefix == null) {
            throw new IllegalStateException(
                    ledger.numAvailable() + " blocks are available, but only " + ledger.numFree() + " can be had");
        }
        prefixes.drop(prefix);
    }

    private void end(SessionRequest request, int numTokens, long atNanos) {
        var turn = request.prompt().turn();
        if (request.blocks == null || !turn.isInSession()) {
            return;
        }
        int numPrompt = request.prompt().length();
        var info = new SessionCacheInfo(
                turn.sessionId(),
                numTokens,
                numPrompt,
                numTokens - numPrompt,
                turn.turn(),
                turn.numTruncatedTokens(),
                atNanos);
        var kept = request.blocks.keepForSession(limited(numTokens));
        request.blocks.release();
        request.blocks = ledger.open();
        sessions.update(new SessionTable.Entry(info, kept, request.prompt(), request.tokens()));
    }

    private int limited(int numTokens) {
        return Math.min(numTokens, config.maxModelLen());
    }
}
