package understudy.kvcache.content;

import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvEvent;
import understudy.kvcache.eviction.PrefixTable;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;
import understudy.prompt.HashChain;
import understudy.prompt.HashIndex;
import understudy.prompt.HashPath;
import understudy.prompt.Prompt;
import understudy.prompt.SequenceTokens;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenSource;

/**
 * Tokens of one request, and the hashes of its full blocks as they are needed; who knows its blocks extends this.
 *
 * <p>Positions below the prompt's length are prompt tokens, the rest is output. Reads are only ever made of tokens that
 * are known already.
 */
public abstract class HashedSequence {
    static final int FIRST_BLOCKS = 8;

    private final Prompt prompt;
    private final TokenSource output;
    private final SequenceTokens tokens;
    private final BlockHasher hasher;
    private final BlockRoom room;
    private final int numPromptTokens;
    private final int numPromptBlocks;
    private final SessionTurn turn;

    /** Hashes of the prompt's full blocks, or null before the first is asked for. */
    private @Nullable HashPath promptPath;

    private long[] outputHashes = new long[0];
    private int numOutputHashes;
    private @Nullable HashChain chain;

    /** Path of all blocks that there is room for, or null before someone asks. */
    private @Nullable HashPath path;

    /**
     * Creates a sequence without blocks.
     *
     * @param room to hash in, the same for all sequences of a memory
     */
    protected HashedSequence(Prompt prompt, TokenSource output, BlockHasher hasher, BlockRoom room) {
        this.prompt = prompt;
        this.output = output;
        tokens = new SequenceTokens(prompt.tokens(), output);
        this.hasher = hasher;
        this.room = room;
        numPromptTokens = prompt.length();
        numPromptBlocks = numPromptTokens / hasher.blockSize();
        turn = prompt.turn();
    }

    /**
     * Returns the event that blocks from {@code firstToken} on have become findable.
     *
     * @param range the group that has stored them, or null if there is only one
     */
    protected KvEvent.Stored stored(
            LongList blockHashes, long parentHash, int firstToken, KvEvent.@Nullable GroupRange range) {
        boolean hasParent = firstToken > 0;
        return new KvEvent.Stored(
                blockHashes, hasParent, parentHash, tokens, firstToken, prompt.loraName(), prompt.cacheSalt(), range);
    }

    public SessionTurn turn() {
        return turn;
    }

    public int numPromptTokens() {
        return numPromptTokens;
    }

    /** Drops the references to all blocks. */
    protected abstract void releaseTo(BlockPool pool, long lastStep);

    /** Returns the blocks that it holds, in order. */
    protected abstract int[] blockTable();

    /** Adds a reference to each block for each time that it is held. */
    protected abstract void countReferences(int[] refCounts);

    /** Counts the blocks that carry another hash than their tokens have, or one that they should not. */
    protected abstract int countBadHashes(PrefixTable prefixTable);

    /** Returns the hash of a full block; all its tokens must be known. */
    public long hashOf(int blockIndex) {
        if (blockIndex < numPromptBlocks) {
            return promptPath().get(blockIndex);
        }
        int outputIndex = blockIndex - numPromptBlocks;
        while (numOutputHashes <= outputIndex) {
            hashNext();
        }
        return outputHashes[outputIndex];
    }

    /** Returns where the search for a full block begins in the prefix table. */
    int homeOf(int blockIndex) {
        return HashIndex.home(hashOf(HashIndex.firstBeside(blockIndex)), blockIndex);
    }

    /** Returns the hashes of the prompt's full blocks. */
    HashPath promptPath() {
        var known = promptPath;
        if (known == null) {
            known = prompt.hashPath(hasher);
            promptPath = known;
        }
        return known;
    }

    /**
     * Returns a path with the hashes of some blocks and those before them, all of which must have been asked for before. Of
     * blocks behind them it may have the places only.
     */
    HashPath path(int numBlocks) {
        if (numBlocks <= numPromptBlocks) {
            return promptPath();
        }
        var known = path;
        if (known == null) {
            known = promptPath().growingBy(outputHashes);
            path = known;
        }
        return known;
    }

    private void hashNext() {
        var current = chain;
        if (current == null) {
            current = prompt.chainEnd(hasher);
            chain = current;
        }
        if (numOutputHashes == outputHashes.length) {
            outputHashes = Arrays.copyOf(outputHashes, FIRST_BLOCKS + numOutputHashes + numOutputHashes / 2);
            path = null;
        }
        int firstToken = (numPromptBlocks + numOutputHashes) * hasher.blockSize();
        // Behind the prompt the answer is read by itself, since the prompt's pieces have left the processor's caches.
        outputHashes[numOutputHashes++] = firstToken < numPromptTokens
                ? current.next(tokens, firstToken, room)
                : current.next(output, firstToken - numPromptTokens, room);
    }
}
