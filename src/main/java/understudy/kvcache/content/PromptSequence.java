package understudy.kvcache.content;

import it.unimi.dsi.fastutil.HashCommon;
import understudy.kvcache.PrefixLookup;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;
import understudy.prompt.Prompt;

/**
 * The blocks of one request whose prompt is cached as a whole: a block's hash covers all tokens of the prompt and the
 * block's place in it, so it is found by equal prompts only. The last block need not be full.
 */
final class PromptSequence extends KvSequence {
    private final int numPromptBlocks;
    private final boolean endsInsideBlock;
    private final long promptHash;
    private int numOwedBlocks;

    PromptSequence(PrefixLookup lookup, BlockHasher hasher, BlockRoom room) {
        super(lookup.prompt(), lookup.output(), hasher, room);
        int blockSize = hasher.blockSize();
        int numTokens = lookup.prompt().length();
        numPromptBlocks = (numTokens + blockSize - 1) / blockSize;
        endsInsideBlock = numTokens % blockSize != 0;
        promptHash = hash(lookup.prompt(), hasher);
    }

    int numPromptBlocks() {
        return numPromptBlocks;
    }

    /** Returns whether the first output token goes into a block that equal prompts may hold too. */
    boolean endsInsideBlock() {
        return endsInsideBlock;
    }

    /** Returns how many more blocks the request may ask for. */
    int numOwedBlocks() {
        return numOwedBlocks;
    }

    void setNumOwedBlocks(int count) {
        numOwedBlocks = count;
    }

    @Override
    public long hashOf(int blockIndex) {
        return HashCommon.mix(promptHash + blockIndex);
    }

    /** Keeps no runs of blocks, since their hashes are no path. */
    @Override
    protected void releaseTo(BlockPool pool, long lastStep) {
        int[] blocks = takeBlocks();
        pool.release(blocks, blocks.length, lastStep);
    }

    /** Hashes all tokens; the length tells a last block from a longer one that begins alike. */
    private static long hash(Prompt prompt, BlockHasher hasher) {
        int blockSize = hasher.blockSize();
        int numFullTokens = prompt.length() - prompt.length() % blockSize;
        var lastBlock = new int[blockSize];
        prompt.tokens().copy(numFullTokens, prompt.length() - numFullTokens, lastBlock, 0);
        return HashCommon.mix(prompt.chainEnd(hasher).next(lastBlock) + prompt.length());
    }
}
