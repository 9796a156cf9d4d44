package understudy.kvcache.content;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvBlockCounts;
import understudy.kvcache.eviction.BlockUse;
import understudy.kvcache.eviction.FreeBlockQueue;
import understudy.kvcache.eviction.FreeRunQueue;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.HashPath;

/**
 * The physical KV blocks of one replica: reference counts, the prefix-hash table, and the queue of free blocks.
 *
 * <p>Follows vLLM V1 {@code block_pool.py}. A block is in the free queue exactly when it has no references. New blocks are
 * given out by number, and memory is taken for those alone that have been given out.
 */
public final class BlockPool {
    private final int numGpuBlocks;
    private final PrefixTable prefixTable;
    private final BlockRefs refs;
    private final BlockUse use;
    private final boolean goesByUse;
    private final FreeBlockQueue freeBlocks;

    /** The same queue, or null if it does not keep runs together. */
    private final @Nullable FreeRunQueue freeRuns;

    private final KvEventLog events;

    /** Blocks that are being released, or taken from the queue. */
    private int[] listed = new int[16];

    /** How many of these are being released. */
    private int numListed;

    private final IntArrayList withheld = new IntArrayList();
    private int numToWithhold;
    private int numFreeHashed;
    private long numReleased;
    private long numEvicted;

    BlockPool(PoolConfig config, KvEventLog events) {
        numGpuBlocks = config.numGpuBlocks();
        this.prefixTable = new PrefixTable(numGpuBlocks);
        refs = new BlockRefs(prefixTable.capacity());
        var order = config.freeBlocks();
        goesByUse = order.evictionPolicy().goesByUse();
        this.use = new BlockUse(goesByUse ? numGpuBlocks : 0);
        this.freeBlocks = order.evictionPolicy().create(prefixTable, use, order.freeOrder());
        freeRuns = freeBlocks instanceof FreeRunQueue runs ? runs : null;
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
            withheld.push(poll());
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
        return refs.count(block);
    }

    boolean isInRun(int block) {
        return refs.runOf(block) != null;
    }

    public PrefixTable prefixTable() {
        return prefixTable;
    }

    public int[] freeOrder() {
        return freeBlocks.order();
    }

    /** Returns how many blocks of a table have no references. */
    int countFree(int[] table, int count) {
        int numFree = 0;
        for (int i = 0, numTogether; i < count; i += numTogether) {
            numTogether = refs.numTogether(table, i, count);
            numFree += refs.count(table[i]) == 0 ? numTogether : 0;
        }
        return numFree;
    }

    /** Finds the first blocks of a sequence by their hashes, up to the first one that is not there; returns how many. */
    int find(HashPath path, int count, int[] blocks) {
        int place = 0;
        int block = PrefixTable.NULL_BLOCK;
        while (place < count) {
            block = prefixTable.lookupNext(block, path, place);
            if (block == PrefixTable.NULL_BLOCK) {
                break;
            }
            var run = refs.runOf(block);
            if (run != null && run.firstPlace() == place) {
                place = run.copyEqual(path, count, blocks);
                block = blocks[place - 1];
            } else {
                blocks[place++] = block;
            }
        }
        return place;
    }

    /**
     * Gives a block of a sequence the hash of the content that it holds.
     *
     * @param home where a search for it begins
     * @param conversation the conversation that has computed it, or -1 for none
     */
    void cache(int block, long hash, int home, long conversation) {
        int first = prefixTable.insert(block, hash, home, conversation);
        dissolveRunOf(first); // a conversation may have lost it, and not the others of the run
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
        dissolveRunOf(block);
        prefixTable.use(block, conversation);
        if (!refs.hold(block)) {
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
        for (int i = 0, numTogether; i < count; i += numTogether) {
            findsOwn |= prefixTable.belongsTo(blocks[i], conversation);
            numTogether = refs.numTogether(blocks, i, count);
            if (numTogether > 1) {
                touch(Objects.requireNonNull(refs.runOf(blocks[i])), numTogether, conversation);
            } else if (hold(blocks[i], conversation)) {
                listed[numFree++] = blocks[i];
            }
        }
        freeBlocks.remove(listed, numFree);
        return findsOwn;
    }

    /** Adds a reference to the first blocks of a run. */
    private void touch(BlockRun run, int count, long conversation) {
        if (count < run.length()) {
            refs.split(run, count);
        }
        if (run.hold()) {
            Objects.requireNonNull(freeRuns).removeRun(run.blocks(), 0, run.length());
            numFreeHashed -= run.length();
        }
        prefixTable.useAll(run.blocks(), run.length(), conversation);
    }

    /** Gives out the next free block, which loses the content it had cached. */
    public int take() {
        int block = poll();
        refs.hold(block);
        return block;
    }

    /** Gives out the next free blocks, which lose the content they had cached, to the places of a table from one on. */
    void take(int[] table, int from, int count) {
        int end = from + count;
        for (int place = from; place < end; ) {
            var run = runAtHead();
            if (run == null) {
                table[place++] = take();
            } else {
                int next = Math.min(end, place + run.length());
                pollLast(run, table, place, next);
                for (; place < next; place++) {
                    refs.hold(table[place]);
                }
            }
        }
    }

    private int poll() {
        var run = runAtHead();
        if (run != null) {
            pollLast(run, listed, 0, 1);
            return listed[0];
        }
        int block = freeBlocks.poll();
        if (block >= refs.capacity()) {
            prefixTable.makeRoom(block);
            refs.makeRoom(prefixTable.capacity());
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

    private @Nullable BlockRun runAtHead() {
        return freeRuns == null ? null : refs.runOf(freeRuns.peek());
    }

    /** Removes the last blocks of the run at the head of the queue, the last one first. */
    private void pollLast(BlockRun run, int[] table, int from, int to) {
        int end = run.length();
        int first = end - (to - from);
        int[] blocks = run.blocks();
        Objects.requireNonNull(freeRuns).removeRun(blocks, first, end);
        for (int i = end - 1; i >= first; i--) {
            events.removed(blocks[i], prefixTable.hashOf(blocks[i]));
            prefixTable.remove(blocks[i]);
            table[from + end - 1 - i] = blocks[i];
        }
        refs.removeLast(run, end - first);
        numFreeHashed -= end - first;
        numEvicted += end - first;
    }

    private void dissolveRunOf(int block) {
        var run = refs.runOf(block);
        if (run != null) {
            refs.dissolve(run);
        }
    }

    /**
     * Drops one reference of each block of a table, the last block first, as vLLM does.
     *
     * @param lastStep number of the step in which the table's request was scheduled last
     */
    public void release(int[] blockTable, int count, long lastStep) {
        release(blockTable, count, lastStep, null);
    }

    /**
     * Does the same, and makes runs of those blocks of a sequence that are cached and free then.
     *
     * @param path the hashes of those that are cached
     */
    void releaseSequence(int[] blockTable, int count, long lastStep, HashPath path) {
        release(blockTable, count, lastStep, freeRuns == null ? null : path);
    }

    private void release(int[] table, int count, long lastStep, @Nullable HashPath path) {
        makeRoomToList(count);
        int end = count; // of the blocks that go into a run with those before them
        for (int place = count - 1; place >= 0; place--) {
            int block = table[place];
            var run = refs.runOf(block);
            if (run != null) {
                releaseListed();
                release(run);
                refs.join(path, table, place + 1, end, goesOn(run, table, place + 1, end) ? run : null);
                place = run.firstPlace();
                end = place;
                continue;
            }
            if (goesByUse) {
                use.note(block, lastStep, place + 1);
            }
            if (!drop(block) || path == null || !prefixTable.isFindable(block)) {
                refs.join(path, table, place + 1, end, null);
                end = place;
            } else if (place + 1 < end && !prefixTable.haveSameOwner(block, table[place + 1])) {
                refs.join(path, table, place + 1, end, null);
                end = place + 1;
            }
        }
        refs.join(path, table, 0, end, null);
        releaseListed();
        withhold();
    }

    /** Returns whether blocks of a table can be a part of the run in front of them. */
    private boolean goesOn(BlockRun run, int[] table, int from, int to) {
        return from < to && run.isFree() && prefixTable.haveSameOwner(run.first(), table[from]);
    }

    /** Drops a reference to a block in no run, and lists it if that was the last; returns whether it was. */
    private boolean drop(int block) {
        if (!refs.drop(block)) {
            return false;
        }
        listed[numListed++] = block;
        numFreeHashed += prefixTable.isHashed(block) ? 1 : 0;
        return true;
    }

    private void releaseListed() {
        freeBlocks.release(listed, numListed);
        numReleased += numListed;
        numListed = 0;
    }

    private void release(BlockRun run) {
        if (run.drop()) {
            Objects.requireNonNull(freeRuns).releaseRun(run.blocks(), run.length());
            numFreeHashed += run.length();
            numReleased += run.length();
        }
    }

    private void makeRoomToList(int count) {
        if (count > listed.length) {
            listed = new int[Math.max(count, listed.length * 2)];
        }
    }

    /** Drops one reference of a block in no run, in favour of another one with the same content. */
    public void release(int block) {
        if (drop(block)) {
            releaseListed();
            withhold();
        }
    }

    /** Makes a block unfindable that is held, because its content is wrong. */
    public void forget(int block) {
        if (prefixTable.isHashed(block)) {
            refs.dissolveAll(); // no run may be behind a block without a hash: a release begins with such blocks
            events.removed(block, prefixTable.hashOf(block));
            prefixTable.remove(block);
            numFreeHashed -= refs.count(block) == 0 ? 1 : 0;
            numEvicted++;
        }
    }

    /** Forgets all cached content; refused, with false, while any block is referenced. */
    boolean reset() {
        if (numFree() != numBlocks() - 1) {
            return false;
        }
        prefixTable.clear();
        refs.dissolveAll();
        numFreeHashed = 0;
        events.cleared();
        return true;
    }
}
