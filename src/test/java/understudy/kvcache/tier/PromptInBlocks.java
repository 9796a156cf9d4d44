package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.KvTransferParams;

/** Request whose prompt's blocks have hashes from {@code prompt} on, in GPU blocks that are told one by one. */
final class PromptInBlocks implements ConnectedRequest {
    private final long requestId;
    private final long firstHash;
    private final int numPromptTokens;
    final IntArrayList blocks = new IntArrayList();
    int numTokens;
    int numCachedBlocks;

    @Nullable KvTransferParams params;

    PromptInBlocks(long requestId, int firstHash, int numTokens, int... blocks) {
        this.requestId = requestId;
        this.firstHash = firstHash;
        this.numTokens = numTokens;
        numPromptTokens = numTokens;
        this.blocks.addAll(IntList.of(blocks));
    }

    @Override
    public long requestId() {
        return requestId;
    }

    @Override
    public @Nullable KvTransferParams transferParams() {
        return params;
    }

    @Override
    public int numTokens() {
        return numTokens;
    }

    @Override
    public int numPromptTokens() {
        return numPromptTokens;
    }

    @Override
    public int numBlocks() {
        return blocks.size();
    }

    @Override
    public int block(int index) {
        return blocks.getInt(index);
    }

    @Override
    public int numCachedBlocks() {
        return numCachedBlocks;
    }

    @Override
    public long hashOf(int blockIndex) {
        return firstHash + blockIndex;
    }
}
