package understudy.kvcache.eviction;

import java.util.Arrays;

/**
 * S3-FIFO: a small queue filters out content that is used once, a main queue keeps the rest, and a ghost queue
 * remembers what the small one gave up, so that content that comes back goes straight to main.
 *
 * <p>Follows <a href="https://dl.acm.org/doi/10.1145/3600006.3613147">Yang et al., SOSP 2023</a>, Algorithm 1, with its
 * sizes: 10 % for the small queue, as many ghosts as main has room for. A block in use keeps its place in its queue but
 * is passed over, which the paper has no need for; and blocks arrive when they are first released.
 */
final class S3FifoOrder implements CachedBlockOrder {
    private static final int MAX_FREQUENCY = 3;

    private static final byte NOWHERE = 0;
    private static final byte SMALL = 1;
    private static final byte MAIN = 2;

    private final PrefixTable prefixTable;
    private final BlockUse use;
    private final int numBlocks;
    private final BlockHeap small = new BlockHeap(this::compare);
    private final BlockHeap main = new BlockHeap(this::compare);
    private final Ghosts ghosts = new Ghosts();
    private final int smallTarget;

    /** What is known of each block that has come in. */
    private byte[] places = {};

    private int[] frequencies = {};
    private int[] seenUses = {};
    private long[] arrival = {};
    private int numInSmall;
    private long numArrivals;

    S3FifoOrder(PrefixTable prefixTable, BlockUse use) {
        this.prefixTable = prefixTable;
        this.use = use;
        numBlocks = use.numBlocks();
        smallTarget = Math.max(1, (numBlocks - 1) / 10);
    }

    @Override
    public void add(int block) {
        if (block >= places.length) {
            makeRoom(block);
        }
        if (places[block] == NOWHERE) {
            insert(block);
        }
        // The use that has brought the content in is not a hit.
        int numHits = use.numUses(block) - seenUses[block];
        frequencies[block] = Math.min(MAX_FREQUENCY, frequencies[block] + numHits);
        seenUses[block] = use.numUses(block);
        queueOf(block).add(block);
    }

    @Override
    public void remove(int block) {
        queueOf(block).remove(block);
    }

    @Override
    public int evict() {
        while (true) {
            boolean fromSmall = main.isEmpty() || (numInSmall >= smallTarget && !small.isEmpty());
            int block = (fromSmall ? small : main).poll();
            if (fromSmall && frequencies[block] > 1) {
                numInSmall--;
                moveToMain(block, 0);
            } else if (!fromSmall && frequencies[block] > 0) {
                moveToMain(block, frequencies[block] - 1);
            } else {
                forget(block, fromSmall);
                return block;
            }
        }
    }

    @Override
    public int size() {
        return small.size() + main.size();
    }

    @Override
    public int[] order() {
        var order = Arrays.copyOf(small.order(), size());
        System.arraycopy(main.order(), 0, order, small.size(), main.size());
        return order;
    }

    private void makeRoom(int block) {
        int capacity = PrefixTable.grown(block, numBlocks);
        places = Arrays.copyOf(places, capacity);
        frequencies = Arrays.copyOf(frequencies, capacity);
        seenUses = Arrays.copyOf(seenUses, capacity);
        arrival = Arrays.copyOf(arrival, capacity);
    }

    private void insert(int block) {
        boolean isBack = ghosts.remove(prefixTable, block);
        places[block] = isBack ? MAIN : SMALL;
        numInSmall += isBack ? 0 : 1;
        arrival[block] = ++numArrivals;
        frequencies[block] = 0;
        seenUses[block] = 1;
    }

    private void moveToMain(int block, int frequency) {
        places[block] = MAIN;
        frequencies[block] = frequency;
        arrival[block] = ++numArrivals;
        main.add(block);
    }

    private void forget(int block, boolean fromSmall) {
        places[block] = NOWHERE;
        if (fromSmall) {
            numInSmall--;
            ghosts.add(prefixTable, block, numBlocks - 1 - smallTarget);
        }
    }

    private BlockHeap queueOf(int block) {
        return places[block] == MAIN ? main : small;
    }

    private int compare(int one, int other) {
        return Long.compare(arrival[one], arrival[other]);
    }
}
