package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.BlockHasher;
import understudy.prompt.HashChain;
import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenSource;

/**
 * State of one request in the KV cache: its block table, and the hashes of its full blocks as they are needed.
 *
 * <p>Positions below the prompt's length are prompt tokens, the rest is output. Reads are only ever made of tokens that
 * are known already.
 */
class KvSequence {
    private static final int FIRST_BLOCKS = 8;

    private final Prompt prompt;
    private final SequenceTokens tokens;
    private final BlockHasher hasher;
    private final SessionTurn turn;

    /** Hashes of the prompt's full blocks; empty before the first is asked for. */
    private long[] promptHashes = {};

    private int[] blocks = {};
    private int numBlocks;
    private int numCachedBlocks;
    private long[] outputHashes = new long[0];
    private int numOutputHashes;
    private int[] hashedTokens = {};
    private @Nullable HashChain chain;

    KvSequence(Prompt prompt, TokenSource output, BlockHasher hasher) {
        this.prompt = prompt;
        tokens = new SequenceTokens(prompt.tokens(), output);
        this.hasher = hasher;
        turn = prompt.turn();
    }

    /** Returns the event that blocks from {@code firstBlock} on have become findable. */
    KvEvent.Stored stored(LongList blockHashes, long parentHash, int firstBlock) {
        int firstToken = firstBlock * hasher.blockSize();
        return new KvEvent.Stored(
                blockHashes, firstBlock > 0, parentHash, tokens, firstToken, prompt.loraName(), prompt.cacheSalt());
    }

    SessionTurn turn() {
        return turn;
    }

    public int numPromptTokens() {
        return prompt.length();
    }

    public int numBlocks() {
        return numBlocks;
    }

    public int block(int index) {
        return blocks[index];
    }

    int[] blockTable() {
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

    void append(int block) {
        if (numBlocks == blocks.length) {
            blocks = Arrays.copyOf(blocks, numBlocks + numBlocks / 2 + 1);
        }
        blocks[numBlocks++] = block;
    }

    /** Finds the blocks that are cached without a gap, {@code limit} at most, and returns how many. */
    int lookUp(PrefixTable table, int limit, int[] into) {
        if (limit == 0) {
            return 0;
        }
        loadPromptHashes();
        int count = table.lookupAll(promptHashes, Math.min(limit, promptHashes.length), into);
        while (count >= promptHashes.length && count < limit) {
            int block = table.lookup(hashOf(count));
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
        return pool.touch(cachedBlocks, count, turn.sessionId()) && turn.isConversationalTurn();
    }

    /** Makes a block of the table findable. */
    void cache(BlockPool pool, int index) {
        pool.prefixTable().insert(blocks[index], hashOf(index), turn.sessionId());
    }

    void replace(int index, int block) {
        blocks[index] = block;
    }

    void releaseTo(BlockPool pool, long lastStep) {
        pool.release(blocks, numBlocks, lastStep);
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

    /** Returns the hash of a full block; all its tokens must be known. */
    public long hashOf(int blockIndex) {
        loadPromptHashes();
        if (blockIndex < promptHashes.length) {
            return promptHashes[blockIndex];
        }
        int outputIndex = blockIndex - promptHashes.length;
        while (numOutputHashes <= outputIndex) {
            hashNext(promptHashes.length + numOutputHashes);
        }
        return outputHashes[outputIndex];
    }

    private void loadPromptHashes() {
        if (promptHashes.length == 0) {
            promptHashes = prompt.blockHashes(hasher);
        }
    }

    private void hashNext(int blockIndex) {
        var current = chain;
        if (current == null) {
            current = prompt.chainEnd(hasher);
            chain = current;
            hashedTokens = new int[hasher.blockSize()];
        }
        if (numOutputHashes == outputHashes.length) {
            outputHashes = Arrays.copyOf(outputHashes, FIRST_BLOCKS + numOutputHashes + numOutputHashes / 2);
        }
        tokens.copy(blockIndex * hashedTokens.length, hashedTokens.length, hashedTokens, 0);
        outputHashes[numOutputHashes++] = current.next(hashedTokens);
    }
}
