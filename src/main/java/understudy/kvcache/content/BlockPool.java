package understudy.kvcache.content;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.Arrays;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.eviction.BlockUse;
import understudy.kvcache.eviction.FreeBlockQueue;
import understudy.kvcache.eviction.PrefixTable;

/**
 * The physical KV blocks of one replica: reference counts, the prefix-hash table, and the queue of free blocks.
 *
 * <p>Follows vLLM V1 {@code block_pool.py}. A block is in the free queue exactly when it has no references. New blocks are
 * given out by number, and memory is taken for those alone that have been given out.
 */
public final class BlockPool {
    private final int numGpuBlocks;
    private int[] refCounts;
    private final PrefixTable prefixTable;
    private final BlockUse use;
    private final boolean goesByUse;
    private final FreeBlockQueue freeBlocks;
    private final KvEventLog events;

    /** Blocks that are being released, or taken from the queue. */
    private int[] listed = new int[16];

    private final IntArrayList withheld = new IntArrayList();
    private int numToWithhold;
    private int numFreeHashed;
    private long numReleased;
    private long numEvicted;

    BlockPool(PoolConfig config, KvEventLog events) {
        numGpuBlocks = config.numGpuBlocks();
        this.prefixTable = new PrefixTable(numGpuBlocks);
        this.refCounts = new int[prefixTable.capacity()];
        var order = config.freeBlocks();
        goesByUse = order.evictionPolicy().goesByUse();
        this.use = new BlockUse(goesByUse ? numGpuBlocks : 0);
        this.freeBlocks = order.evictionPolicy().create(prefixTable, use, order.freeOrder());
        this.events = events;
    }

    /** Returns the blocks of the device, those out of use included. */
    public int numGpuBlocks() {
        return numGpuBlocks;
    }

    /** Returns the blocks, the null block included, that are not out of use. */
    public int numBlocks() {
        return numGpuBlocks - withheld.size();
    }

    /**
     * Removes blocks from use, or adds them back: free ones at once, in the order in which they would be given out;
     * others when they are released.
     *
     * @param numBlocks to be left in use, the null block included; at least 2, and at most all
     */
    void resize(int numBlocks) {
        numToWithhold = numGpuBlocks - numBlocks;
        withhold();
        while (withheld.size() > numToWithhold) {
            listed[0] = withheld.popInt();
            freeBlocks.release(listed, 1);
            numReleased++;
        }
    }

    private void withhold() {
        while (withheld.size() < numToWithhold && numFree() > 0) {
            withheld.push(pollEvicted());
        }
    }

    public int numFree() {
        return freeBlocks.size();
    }

    /** Returns the numbers of blocks by their use. */
    public KvBlockCounts counts() {
        int numUsable = numBlocks() - 1;
        return new KvBlockCounts(numUsable, numUsable - numFree(), numFreeHashed);
    }

    /** Returns how many blocks have lost their last reference since the start. */
    public long numReleased() {
        return numReleased;
    }

    /** Returns how many cached blocks have been given out again since the start. */
    public long numEvicted() {
        return numEvicted;
    }

    public int refCount(int block) {
        return block < refCounts.length ? refCounts[block] : 0;
    }

    public PrefixTable prefixTable() {
        return prefixTable;
    }

    public int[] freeOrder() {
        return freeBlocks.order();
    }

    /**
     * Adds a reference to a cached block; a free one leaves the free queue.
     *
     * @param conversation the conversation that uses its content, or -1 for none
     */
    public void touch(int block, long conversation) {
        if (hold(block, conversation)) {
            freeBlocks.remove(block);
        }
    }

    /** Adds a reference to a cached block; returns whether that is its first, so that it must leave the free queue. */
    private boolean hold(int block, long conversation) {
        prefixTable.use(block, conversation);
        if (refCounts[block]++ > 0) {
            return false;
        }
        numFreeHashed -= prefixTable.isHashed(block) ? 1 : 0;
        return true;
    }

    /** Adds a reference to each of some cached blocks; returns whether any belonged to the conversation alone. */
    boolean touch(int[] blocks, int count, long conversation) {
        makeRoomToList(count);
        boolean findsOwn = false;
        int numFree = 0;
        for (int i = 0; i < count; i++) {
            findsOwn |= prefixTable.belongsTo(blocks[i], conversation);
            if (hold(blocks[i], conversation)) {
                listed[numFree++] = blocks[i];
            }
        }
        freeBlocks.remove(listed, numFree);
        return findsOwn;
    }

    /** Gives out the next free block, which loses the content it had cached. */
    public int take() {
        int block = pollEvicted();
        refCounts[block] = 1;
        return block;
    }

    private int pollEvicted() {
        int block = freeBlocks.poll();
        if (block >= refCounts.length) {
            prefixTable.makeRoom(block);
            refCounts = Arrays.copyOf(refCounts, prefixTable.capacity());
        } else if (prefixTable.isHashed(block)) {
            events.removed(block, prefixTable.hashOf(block));
            prefixTable.remove(block);
            numFreeHashed--;
            numEvicted++;
        }
        if (goesByUse) {
            use.clear(block);
        }
        return block;
    }

    /**
     * Drops one reference of each block of a table, the last block first, as vLLM does.
     *
     * @param lastStep number of the step in which the table's request was scheduled last
     */
    public void release(int[] blockTable, int count, long lastStep) {
        makeRoomToList(count);
        int numUnreferenced = 0;
        for (int i = count - 1; i >= 0; i--) {
            int block = blockTable[i];
            if (goesByUse) {
                use.note(block, lastStep, i + 1);
            }
            if (--refCounts[block] == 0) {
                listed[numUnreferenced++] = block;
                numFreeHashed += prefixTable.isHashed(block) ? 1 : 0;
            }
        }
        freeBlocks.release(listed, numUnreferenced);
        numReleased += numUnreferenced;
        withhold();
    }

    private void makeRoomToList(int count) {
        if (count > listed.length) {
            listed = new int[Math.max(count, listed.length * 2)];
        }
    }

    /** Drops one reference of a single block, in favour of another one with the same content. */
    public void release(int block) {
        if (--refCounts[block] == 0) {
            listed[0] = block;
            numFreeHashed += prefixTable.isHashed(block) ? 1 : 0;
            freeBlocks.release(listed, 1);
            numReleased++;
            withhold();
        }
    }

    /** Makes a block unfindable that is held, because its content is wrong. */
    public void forget(int block) {
        if (prefixTable.isHashed(block)) {
            events.removed(block, prefixTable.hashOf(block));
            prefixTable.remove(block);
            numFreeHashed -= refCounts[block] == 0 ? 1 : 0;
            numEvicted++;
        }
    }

    /** Forgets all cached content; refused, with false, while any block is referenced. */
    boolean reset() {
        if (numFree() != numBlocks() - 1) {
            return false;
        }
        prefixTable.clear();
        numFreeHashed = 0;
        events.cleared();
        return true;
    }
}
