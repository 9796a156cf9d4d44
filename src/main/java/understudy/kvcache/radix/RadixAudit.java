package understudy.kvcache.radix;

import java.util.BitSet;
import java.util.Objects;
import understudy.kvcache.KvCacheAudit;

/** Recount of a memory's pages from its tree, its tables and its free list. Page 0 is never given out. */
final class RadixAudit {
    private final RadixMemory memory;
    private final BitSet free = new BitSet();
    private final BitSet inTree = new BitSet();
    private final BitSet locked = new BitSet();
    private final BitSet held = new BitSet();
    private final BitSet heldByAbandoned = new BitSet();
    private final int[] locks;
    private int numBadRefCounts;
    private int numBadFree;
    private int numBadHashes;

    private RadixAudit(RadixMemory memory) {
        this.memory = memory;
        locks = new int[memory.tree().numIds()];
    }

    static KvCacheAudit of(RadixMemory memory) {
        return new RadixAudit(memory).recount();
    }

    private KvCacheAudit recount() {
        int numPages = memory.config().maxTotalTokens() / memory.pageSize();
        numBadFree += memory.addFreeTo(free, numPages);
        for (var sequence : memory.sequences()) {
            if (sequence != null && sequence.isAdmitted) {
                for (var node = sequence.node; node.parent != null; node = node.parent) {
                    locks[node.id]++;
                }
            }
        }
        for (var copied : memory.lockedByCopies()) {
            for (var node = copied; node.parent != null; node = node.parent) {
                locks[node.id]++;
            }
        }
        countTree();
        for (var sequence : memory.sequences()) {
            if (sequence != null && sequence.isAdmitted) {
                countTable(sequence);
            }
        }
        var inUse = new BitSet();
        inUse.or(locked);
        inUse.or(held);
        var cached = new BitSet();
        cached.or(inTree);
        cached.andNot(inUse);
        inUse.or(heldByAbandoned);
        int numLeft = inUse.cardinality() - usedByOthers().cardinality();
        return new KvCacheAudit(
                numPages + 1,
                free.cardinality() + cached.cardinality(),
                inUse.cardinality(),
                inTree.cardinality(),
                numBadRefCounts,
                numBadFree + memory.numBadWindowPages() + memory.numBadHostPages(),
                numBadHashes,
                numLeft);
    }

    private void countTree() {
        int evictable = 0;
        int numLocked = 0;
        for (var node : memory.tree().nodes()) {
            var pages = node.pages;
            if (pages == null) {
                numBadRefCounts += node.locks;
                continue;
            }
            numBadHashes += pages.length * memory.pageSize() == node.length ? 0 : 1;
            numBadRefCounts += node.locks == locks[node.id] ? 0 : 1;
            evictable += node.locks == 0 ? node.length : 0;
            numLocked += node.locks == 0 ? 0 : node.length;
            for (int page : pages) {
                numBadRefCounts += inTree.get(page) ? 1 : 0;
                numBadFree += free.get(page) ? 1 : 0;
                inTree.set(page);
                if (node.locks > 0) {
                    locked.set(page);
                }
            }
        }
        boolean isTrue = evictable == memory.numEvictable() && numLocked == memory.numProtected();
        numBadHashes += isTrue ? 0 : 1;
    }

    /** Counts the pages of a request's own; those before them are what its node and the nodes above it have. */
    private void countTable(RadixSequence sequence) {
        int numProtected = sequence.node.from + sequence.node.length;
        numBadRefCounts += numProtected == sequence.numProtected ? 0 : 1;
        numBadRefCounts += numProtected == sequence.numTreePages() * memory.pageSize() ? 0 : 1;
        for (int i = sequence.numTreePages(); i < sequence.numPages(); i++) {
            int page = sequence.ownPage(i);
            numBadFree += free.get(page) ? 1 : 0;
            numBadRefCounts += inTree.get(page) || held.get(page) || heldByAbandoned.get(page) ? 1 : 0;
            (sequence.isAbandoned ? heldByAbandoned : held).set(page);
        }
    }

    /** Returns the pages that requests hold which have not ended. */
    private BitSet usedByOthers() {
        var used = new BitSet();
        used.or(held);
        for (var sequence : memory.sequences()) {
            if (sequence != null && sequence.isAdmitted && !sequence.isAbandoned) {
                for (var node = sequence.node; node.parent != null; node = node.parent) {
                    for (int page : Objects.requireNonNull(node.pages)) {
                        used.set(page);
                    }
                }
            }
        }
        return used;
    }
}
