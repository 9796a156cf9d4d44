package understudy.kvcache.connector;

import org.jspecify.annotations.Nullable;

/** Request of a replica as its connector sees it, while it has not ended. */
public interface ConnectedRequest {

    /** Returns its number, unique in the emulation. */
    long requestId();

    /** Returns the KV transfer parameters that a router sent along, or null if none. */
    @Nullable KvTransferParams transferParams();

    /** Returns how many of its tokens are known: prompt, and answer so far. */
    int numTokens();

    int numPromptTokens();

    /** Returns how many blocks it holds. */
    int numBlocks();

    /** Returns a block of its table. */
    int block(int index);

    /** Returns how many of its leading blocks can be found by others. */
    int numCachedBlocks();

    /** Returns the hash of a full block, all of whose tokens are known. */
    long hashOf(int blockIndex);
}
