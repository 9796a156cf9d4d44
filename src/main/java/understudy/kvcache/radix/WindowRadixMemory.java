package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Objects;

/** SGLang's KV memory for a model of which some layers have a sliding window. */
final class WindowRadixMemory extends RadixMemory {
    private final WindowPool pool;
    private final WindowTree tree;
    private final int window;
    private final IntArrayList windowed = new IntArrayList();

    private WindowRadixMemory(RadixConfig config, WindowPool pool, WindowTree tree, int window) {
        super(config, pool, tree);
        this.pool = pool;
        this.tree = tree;
        this.window = window;
    }

    static WindowRadixMemory of(RadixConfig config, RadixConfig.Window window) {
        int pageSize = config.pageSize();
        var pool = new WindowPool(pageSize, config.maxTotalTokens() / pageSize, config.windowTokens() / pageSize);
        var tree = new WindowTree(pageSize, pool, config.evictionPolicy(), config.eagleReserve() > 0, window.size());
        return new WindowRadixMemory(config, pool, tree, window.size());
    }

    @Override
    public int numAvailable() {
        return pool.fullSize() + tree.evictable();
    }

    @Override
    public int numFullFree() {
        return pool.fullSize();
    }

    @Override
    public int numWindowAvailable() {
        return pool.windowSize() + tree.windowEvictable();
    }

    @Override
    public int numWindowFree() {
        return pool.windowSize();
    }

    @Override
    public int numWindowEvictable() {
        return tree.windowEvictable();
    }

    @Override
    public int numWindowProtected() {
        return tree.windowLocked();
    }

    @Override
    public int[] windowFreeOrder() {
        return pool.windowOrder();
    }

    @Override
    public IntList windowPages(IntList pages) {
        var found = new IntArrayList(pages.size());
        for (int i = 0; i < pages.size(); i++) {
            found.add(pool.windowPage(pages.getInt(i)));
        }
        return found;
    }

    /** Recounts the window's pool: each of its pages is free, or tied to one page in use; a node has all of its own or none. */
    @Override
    int numBadWindowPages() {
        int numBad = pool.numBadWindowPages();
        int numTokens = 0;
        for (var node : tree.nodes()) {
            for (int page : Objects.requireNonNull(node.pages)) {
                numBad += node.hasWindow == (pool.windowPage(page) != 0) ? 0 : 1;
            }
            numTokens += node.hasWindow ? node.length : 0;
        }
        return numBad + (numTokens == tree.windowEvictable() + tree.windowLocked() ? 0 : 1);
    }

    @Override
    public IntList takeWindowed() {
        var taken = new IntArrayList(windowed);
        windowed.clear();
        return taken;
    }

    /** Makes room by what is missing in each pool. */
    @Override
    public void makeRoom(int numTokens) {
        if (pool.size() < numTokens && isCaching()) {
            tree.evict(Math.max(0, numTokens - pool.fullSize()), Math.max(0, numTokens - pool.windowSize()));
        }
    }

    @Override
    int lock(RadixNode node) {
        tree.lock(node);
        return tree.lockWindow(node);
    }

    @Override
    void unlock(RadixNode node, int mark) {
        tree.unlock(node);
        tree.unlockWindow(node, mark);
    }

    @Override
    public void leaveWindow(int handle, int numTokens) {
        var sequence = sequence(handle);
        if (sequence.numDecodes == 0) {
            return;
        }
        int before = sequence.windowGone;
        int from = Math.max(before, sequence.numProtected);
        int to = Math.max(from, numTokens - 1 - Math.max(window, pageSize())) / pageSize() * pageSize();
        if (to > from) {
            var gone = sequence.ownPages(from / pageSize(), to / pageSize());
            pool.freeWindow(gone, 0, gone.length);
        }
        sequence.windowGone = Math.max(from, to);
        if (sequence.windowGone != before) {
            windowed.add(handle);
            windowed.add(before);
            windowed.add(sequence.windowGone);
        }
    }

    @Override
    void insert(RadixSequence sequence, int numTokens, boolean isChunked) {
        if (tree.events != null) {
            tree.events.begin(sequence.lookup);
        }
        tree.insert(sequence, numTokens, isChunked);
    }

    @Override
    void freeUncached(RadixSequence sequence, boolean isCached) {
        int from = isCached ? tree.keyLength(sequence.numCommitted) : sequence.numProtected;
        sequence.free(pool, from / pageSize(), Math.min(numPages(sequence.numCommitted), sequence.numPages()));
    }
}
