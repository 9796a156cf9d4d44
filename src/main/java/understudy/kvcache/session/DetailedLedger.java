package understudy.kvcache.session;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Arrays;
import java.util.List;
import understudy.kvcache.KvCacheAudit;

/**
 * Detailed model of a session cache: a request that continues a prefix shares its block ids, and a block is free again
 * when its reference count is zero. The last, partly filled block of a prefix is copied, since the request that
 * continues it writes into it.
 */
final class DetailedLedger implements BlockLedger {
    private final int numBlocks;
    private final int blockSize;
    private final IntArrayList free = new IntArrayList();
    private int[] refCounts = {};
    private int[] requestRefCounts = {};

    /** The first block that was never given out: it and those after it go when no other one is free, by number. */
    private int firstNew;

    private int numInUse;

    DetailedLedger(int numBlocks, int blockSize) {
        this.numBlocks = numBlocks;
        this.blockSize = blockSize;
    }

    @Override
    public int numFree() {
        return free.size() + numBlocks - firstNew;
    }

    @Override
    public int numAvailable() {
        return numBlocks - numInUse;
    }

    @Override
    public BlockHolding open() {
        return new Holding(true, new int[8], 0);
    }

    @Override
    public KvCacheAudit audit(List<BlockHolding> requests, List<BlockHolding> cached) {
        var ofRequests = count(requests);
        var ofCached = count(cached);
        int numBad = numHeld(ofRequests) == numInUse ? 0 : 1;
        int numCachedOnly = 0;
        for (int block = 0; block < firstNew; block++) {
            numBad += ofRequests[block] + ofCached[block] == refCounts[block] ? 0 : 1;
            numCachedOnly += ofCached[block] > 0 && ofRequests[block] == 0 ? 1 : 0;
        }
        int numBadFree =
                (int) free.intStream().filter(block -> refCounts[block] > 0).count();
        int numFree = numFree() - numBadFree + numCachedOnly;
        return new KvCacheAudit(numBlocks + 1, numFree, numHeld(ofRequests), numHeld(ofCached), numBad, numBadFree, 0);
    }

    /** Returns how many of the holdings hold each block. */
    private int[] count(List<BlockHolding> holdings) {
        var counts = new int[firstNew];
        holdings.forEach(holding -> holding.blockIds().forEach(block -> counts[block]++));
        return counts;
    }

    private static int numHeld(int[] counts) {
        return (int) Arrays.stream(counts).filter(count -> count > 0).count();
    }

    private int take() {
        if (!free.isEmpty()) {
            return free.popInt();
        }
        refCounts = IntArrays.grow(refCounts, firstNew + 1);
        requestRefCounts = IntArrays.grow(requestRefCounts, firstNew + 1);
        return firstNew++;
    }

    private void addReference(int block, boolean isOfRequest) {
        refCounts[block]++;
        if (isOfRequest && requestRefCounts[block]++ == 0) {
            numInUse++;
        }
    }

    private void dropReference(int block, boolean isOfRequest) {
        if (isOfRequest && --requestRefCounts[block] == 0) {
            numInUse--;
        }
        if (--refCounts[block] == 0) {
            free.push(block);
        }
    }

    private final class Holding implements BlockHolding {
        private final boolean isRequest;
        private int[] table;
        private int size;

        /** Takes a reference of each of the first {@code size} blocks of {@code table}, which becomes its own. */
        Holding(boolean isRequest, int[] table, int size) {
            this.isRequest = isRequest;
            this.table = table;
            this.size = size;
            for (int i = 0; i < size; i++) {
                addReference(table[i], isRequest);
            }
        }

        /** The last token of an answer was never computed, so with blocks of one token there is none for it. */
        @Override
        public BlockHolding share(int firstBlock, int numTokens) {
            int count = Math.min(numTokens / blockSize, size - firstBlock);
            return new Holding(true, Arrays.copyOfRange(table, firstBlock, firstBlock + Math.max(8, count)), count);
        }

        @Override
        public int numMissing(int numTokens) {
            return Math.max(0, (numTokens + blockSize - 1) / blockSize - size);
        }

        @Override
        public void grow(int numTokens) {
            int numMissing = numMissing(numTokens);
            if (size + numMissing > table.length) {
                table = Arrays.copyOf(table, Math.max(size + numMissing, size * 2));
            }
            for (int i = 0; i < numMissing; i++) {
                int block = take();
                addReference(block, isRequest);
                table[size++] = block;
            }
        }

        @Override
        public BlockHolding keepForSession(int numTokens) {
            return keepAsPrefix(Math.min(size, (numTokens + blockSize - 1) / blockSize));
        }

        @Override
        public BlockHolding keepAsPrefix(int numBlocks) {
            return new Holding(false, Arrays.copyOf(table, numBlocks), numBlocks);
        }

        @Override
        public void release() {
            for (int i = size - 1; i >= 0; i--) {
                dropReference(table[i], isRequest);
            }
            size = 0;
        }

        @Override
        public boolean isEvictable() {
            return true;
        }

        @Override
        public IntList blockIds() {
            return new IntImmutableList(table, 0, size);
        }
    }
}
