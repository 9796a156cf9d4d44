package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.prompt.BlockHasher;
import understudy.prompt.HashChain;
import understudy.prompt.Prompt;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenSource;

/**
 * What the KV cache knows of one request: its block table, and the hashes of its full blocks as they are needed.
 *
 * <p>Positions below the prompt's length are prompt tokens, the rest is output. Reads are only ever made of tokens that
 * are known already.
 */
public class KvSequence implements TokenSource {
    private final Prompt prompt;
    private final TokenSource output;
    private final BlockHasher hasher;
    private final SessionTurn turn;
    private int[] blocks = new int[8];
    private int numBlocks;
    private int numCachedBlocks;
    private long[] outputHashes = new long[0];
    private int numOutputHashes;
    private @Nullable HashChain chain;

    public KvSequence(Prompt prompt, TokenSource output, BlockHasher hasher) {
        this.prompt = prompt;
        this.output = output;
        this.hasher = hasher;
        turn = prompt.turn();
    }

    @Override
    public int tokenAt(int index) {
        int promptLength = prompt.length();
        return index < promptLength ? prompt.tokens().tokenAt(index) : output.tokenAt(index - promptLength);
    }

    @Override
    public void copy(int from, int count, int[] into, int at) {
        int numFromPrompt = Math.max(0, Math.min(count, prompt.length() - from));
        if (numFromPrompt > 0) {
            prompt.tokens().copy(from, numFromPrompt, into, at);
        }
        if (count > numFromPrompt) {
            output.copy(from + numFromPrompt - prompt.length(), count - numFromPrompt, into, at + numFromPrompt);
        }
    }

    /** Returns whether blocks of this request are good for another prompt, as far as the tokens are the same. */
    public boolean isAkinTo(Prompt other) {
        return prompt.loraName().equals(other.loraName()) && prompt.cacheSalt().equals(other.cacheSalt());
    }

    /** Returns the event that blocks from {@code firstBlock} on have become findable. */
    KvEvent.Stored stored(LongList blockHashes, long parentHash, int firstBlock) {
        int firstToken = firstBlock * hasher.blockSize();
        return new KvEvent.Stored(
                blockHashes, firstBlock > 0, parentHash, this, firstToken, prompt.loraName(), prompt.cacheSalt());
    }

    SessionTurn turn() {
        return turn;
    }

    int numPromptTokens() {
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
    int numCachedBlocks() {
        return numCachedBlocks;
    }

    void setNumCachedBlocks(int count) {
        numCachedBlocks = count;
    }

    void append(int block) {
        if (numBlocks == blocks.length) {
            blocks = Arrays.copyOf(blocks, numBlocks * 2);
        }
        blocks[numBlocks++] = block;
    }

    /**
     * Appends a cached block, with a reference to it.
     *
     * @return whether its content belonged to the request's conversation alone
     */
    boolean attach(BlockPool pool, int cachedBlock) {
        boolean isOwn = turn.isConversationalTurn() && pool.prefixTable().belongsTo(cachedBlock, turn.sessionId());
        pool.touch(cachedBlock, turn.sessionId());
        append(cachedBlock);
        return isOwn;
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

    /** Returns the hash of a full block; all its tokens must be known. */
    public long hashOf(int blockIndex) {
        var promptHashes = prompt.blockHashes(hasher);
        if (blockIndex < promptHashes.length) {
            return promptHashes[blockIndex];
        }
        int outputIndex = blockIndex - promptHashes.length;
        while (numOutputHashes <= outputIndex) {
            hashNext(promptHashes.length + numOutputHashes);
        }
        return outputHashes[outputIndex];
    }

    private void hashNext(int blockIndex) {
        var current = chain;
        if (current == null) {
            current = prompt.chainEnd(hasher);
            chain = current;
        }
        if (numOutputHashes == outputHashes.length) {
            outputHashes = Arrays.copyOf(outputHashes, Math.max(8, numOutputHashes * 2));
        }
        var block = new int[hasher.blockSize()];
        copy(blockIndex * block.length, block.length, block, 0);
        outputHashes[numOutputHashes++] = current.next(block);
    }
}
