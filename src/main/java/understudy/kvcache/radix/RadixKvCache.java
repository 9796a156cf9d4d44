package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvSnapshot;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;
import understudy.kvcache.Settlement;
import understudy.kvcache.StoredPages;
import understudy.kvcache.connector.PushWord;

/**
 * The KV memory of an SGLang replica, as others see it. Its scheduler asks {@link RadixAsk}s and nothing else, and says
 * when a request lets go of its pages: one that its sender has given up runs on until then.
 */
public final class RadixKvCache implements KvCache {
    private final RadixSpec spec;
    private final @Nullable BlockEvents events;
    private RadixMemory memory;
    private PrefixCacheStats statsBefore = PrefixCacheStats.NONE;
    private long numStoredBefore;
    private long numRemovedBefore;
    private List<OwnFigure> figuresBefore = List.of();

    /** Creates an empty memory. */
    public RadixKvCache(RadixSpec spec) {
        this.spec = spec;
        events = spec.recordsEvents() ? new BlockEvents(spec.hasher()) : null;
        memory = create();
    }

    private RadixMemory create() {
        var created = RadixMemory.create(spec.radix());
        if (events != null) {
            created.tell(events);
        }
        return created;
    }

    /** Returns the memory as the scheduler sees it, to look at; another one after a reset. */
    public RadixMemory memory() {
        return memory;
    }

    @Override
    public KvAnswer answer(KvAsk.OfFamily ask) {
        return memory.answer((RadixAsk) ask);
    }

    @Override
    public List<PushWord> takePushWords() {
        return memory.takePushWords();
    }

    @Override
    public @Nullable StoredPages stored() {
        return memory.storage();
    }

    @Override
    public long takeWaitNanos() {
        return memory.takeWaitNanos();
    }

    @Override
    public void settle(Settlement settlement) {
        var own = settlement.own();
        if (own != null) {
            answer(own);
        }
    }

    /** Nothing is dropped before the scheduler says so, with the next result. */
    @Override
    public void free(int handle, long lastStep) {
        memory.abandon(handle);
    }

    @Override
    public Admission admit(AdmissionRequest request) {
        throw unasked();
    }

    @Override
    public int[] match(List<PrefixLookup> lookups) {
        throw unasked();
    }

    @Override
    public int reserve(Reservation reservation) {
        throw unasked();
    }

    @Override
    public void release(int handle, long lastStep) {
        throw unasked();
    }

    private static UnsupportedOperationException unasked() {
        return new UnsupportedOperationException("SGLang's scheduler does not ask this");
    }

    /** As {@code flush_cache}, which clears the pool: its pages are free in their first order again. */
    @Override
    public boolean resetPrefixCache() {
        if (memory.isHeld() || memory.hasPendingCopies()) {
            return false;
        }
        statsBefore = stats();
        numStoredBefore += memory.numStored();
        numRemovedBefore += memory.numRemoved();
        figuresBefore = ownFigures();
        memory = create();
        if (events != null) {
            events.onCleared();
        }
        return true;
    }

    @Override
    public List<KvEvent> drainEvents() {
        return events == null ? List.of() : events.drain();
    }

    /** As {@code token_usage}: what is only cached counts as free. */
    @Override
    public double usage() {
        return 1 - (double) memory.numAvailable() / numTokens();
    }

    private int numTokens() {
        return (spec.numGpuBlocks() - 1) * spec.blockSize();
    }

    @Override
    public KvBlockCounts blockCounts() {
        int pageSize = spec.blockSize();
        int numPages = spec.numGpuBlocks() - 1;
        return new KvBlockCounts(
                numPages, numPages - memory.numAvailable() / pageSize, memory.numEvictable() / pageSize);
    }

    @Override
    public PrefixCacheStats stats() {
        return statsBefore.plus(memory.stats());
    }

    @Override
    public List<OwnFigure> ownFigures() {
        return OwnFigures.sum(figuresBefore, memory.ownFigures());
    }

    @Override
    public List<OwnFigure> levels() {
        return OwnFigures.sum(ownFigures(), memory.levels());
    }

    @Override
    public KvSnapshot snapshot(IntList handles) {
        var tables = new ArrayList<IntList>(handles.size());
        for (int i = 0; i < handles.size(); i++) {
            tables.add(new IntImmutableList(memory.table(handles.getInt(i))));
        }
        return new KvSnapshot(
                tables,
                memory.numFree() / spec.blockSize(),
                numStoredBefore + memory.numStored(),
                numRemovedBefore + memory.numRemoved());
    }

    @Override
    public int[] freeOrder() {
        return memory.freeOrder();
    }

    @Override
    public long[] blockHashes() {
        var hashes = new LongArrayList();
        for (var node : memory.tree().nodes()) {
            if (node.isOnDevice()) {
                hashes.addAll(node.blocks);
            }
        }
        return hashes.toLongArray();
    }

    @Override
    public KvCacheAudit audit() {
        return RadixAudit.of(memory);
    }
}
