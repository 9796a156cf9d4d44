package understudy.kvcache;

import it.unimi.dsi.fastutil.longs.LongList;
import understudy.prompt.TokenSource;

/**
 * A change of the prefix-hash table, as vLLM publishes it ({@code vllm/distributed/kv_events.py}).
 *
 * <p>Events are per physical block: content that is held twice is stored twice, and removed once for each copy.
 */
public sealed interface KvEvent {

    /**
     * A run of consecutive blocks of one request became findable.
     *
     * @param blockHashes hashes of the blocks, in order; at least one
     * @param hasParent whether there is a block before the first one
     * @param parentHash hash of the block before the first one; meaningless without one
     * @param tokens the request's tokens
     * @param firstToken position in {@code tokens} of the first block's first token
     * @param loraName the LoRA adapter's name, or empty
     * @param cacheSalt what keeps the blocks apart from others with the same tokens, or empty
     */
    record Stored(
            LongList blockHashes,
            boolean hasParent,
            long parentHash,
            TokenSource tokens,
            int firstToken,
            String loraName,
            String cacheSalt)
            implements KvEvent {

        /** Describes blocks of the base model, without a salt. */
        public Stored(LongList blockHashes, boolean hasParent, long parentHash, TokenSource tokens, int firstToken) {
            this(blockHashes, hasParent, parentHash, tokens, firstToken, "", "");
        }
    }

    /**
     * Blocks were given out again, and their content with them.
     *
     * @param blockHashes the hashes that the blocks carried, in the order of eviction; at least one
     */
    record Removed(LongList blockHashes) implements KvEvent {}

    /**
     * Chunks can be found in the host's memory (vLLM: {@code BlockStored} with the medium CPU); one event for each there.
     *
     * @param keys the hash of each chunk's last block
     */
    record HostStored(LongList keys) implements KvEvent {}

    /** Chunks have left the host's memory. */
    record HostRemoved(LongList keys) implements KvEvent {}

    /** The whole table was reset. */
    record Cleared() implements KvEvent {}
}
