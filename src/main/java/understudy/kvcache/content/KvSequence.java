package understudy.kvcache.content;

import java.util.Arrays;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;
import understudy.prompt.Prompt;
import understudy.prompt.TokenSource;

/** State of one request in a KV cache whose layers all need everything: its block table. */
class KvSequence extends HashedSequence {
    private int[] blocks = {};
    private int numBlocks;
    private int numCachedBlocks;

    /** How many of the leading blocks were found. */
    private int numHits;

    KvSequence(Prompt prompt, TokenSource output, BlockHasher hasher, BlockRoom room) {
        super(prompt, output, hasher, room);
    }

    public int numBlocks() {
        return numBlocks;
    }

    public int block(int index) {
        return blocks[index];
    }

    @Override
    protected int[] blockTable() {
        return Arrays.copyOf(blocks, numBlocks);
    }

    /** Returns how many of the leading blocks have been put into the prefix table, or were found there. */
    public int numCachedBlocks() {
        return numCachedBlocks;
    }

    void setNumCachedBlocks(int count) {
        numCachedBlocks = count;
    }

    /** Makes room for {@code count} blocks altogether, and for some of an answer. */
    void makeRoom(int count) {
        if (count > blocks.length) {
            blocks = Arrays.copyOf(blocks, count + count / 8 + FIRST_BLOCKS);
        }
    }

    /** Appends the next free blocks of a pool. */
    void take(BlockPool pool, int count) {
        if (count > 1) {
            makeRoom(numBlocks + count);
            pool.take(blocks, numBlocks, count);
            numBlocks += count;
        } else if (count == 1) {
            append(pool.take());
        }
    }

    void append(int block) {
        if (numBlocks == blocks.length) {
            blocks = Arrays.copyOf(blocks, numBlocks + numBlocks / 2 + 1);
        }
        blocks[numBlocks++] = block;
    }

    /** Finds the blocks that are cached without a gap, {@code limit} at most, and returns how many. */
    int lookUp(BlockPool pool, int limit, int[] into) {
        if (limit == 0) {
            return 0;
        }
        var promptPath = promptPath();
        int count = pool.find(promptPath, Math.min(limit, promptPath.length()), into);
        while (count >= promptPath.length() && count < limit) {
            int block = pool.prefixTable().lookup(hashOf(count), homeOf(count));
            if (block == PrefixTable.NULL_BLOCK) {
                break;
            }
            into[count++] = block;
        }
        return count;
    }

    /**
     * Makes cached blocks the beginning of the table, with a reference to each.
     *
     * @return whether the content of any belonged to the request's conversation alone
     */
    boolean attach(BlockPool pool, int[] cachedBlocks, int count) {
        makeRoom(count);
        System.arraycopy(cachedBlocks, 0, blocks, 0, count);
        numBlocks = count;
        numCachedBlocks = count;
        numHits = count;
        return pool.touch(cachedBlocks, count, turn().sessionId()) && turn().isConversationalTurn();
    }

    /** Makes a block of the table findable. */
    void cache(BlockPool pool, int index) {
        pool.cache(blocks[index], hashOf(index), homeOf(index), turn().sessionId());
    }

    void replace(int index, int block) {
        blocks[index] = block;
    }

    /** A sequence that went on from an earlier one leaves runs, since others may go on from it; others are used once. */
    @Override
    protected void releaseTo(BlockPool pool, long lastStep) {
        if (numHits >= BlockRun.MIN_LENGTH) {
            pool.releaseSequence(blocks, numBlocks, lastStep, path(numCachedBlocks));
        } else {
            pool.release(blocks, numBlocks, lastStep);
        }
        numBlocks = 0;
        numCachedBlocks = 0;
    }

    /** Hands over the blocks, whose references stay. */
    int[] takeBlocks() {
        int[] taken = blockTable();
        numBlocks = 0;
        numCachedBlocks = 0;
        return taken;
    }

    @Override
    protected void countReferences(int[] refCounts) {
        for (int i = 0; i < numBlocks; i++) {
            refCounts[blocks[i]]++;
        }
    }

    @Override
    protected int countBadHashes(PrefixTable prefixTable) {
        int numBad = 0;
        boolean isBehindUnhashed = false;
        for (int i = 0; i < numBlocks; i++) {
            if (!prefixTable.isHashed(blocks[i])) {
                isBehindUnhashed = true;
            } else if (isBehindUnhashed || prefixTable.hashOf(blocks[i]) != hashOf(i)) {
                numBad++;
            }
        }
        return numBad;
    }
}
