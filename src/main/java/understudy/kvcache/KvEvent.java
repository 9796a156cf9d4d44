package understudy.kvcache;

import it.unimi.dsi.fastutil.longs.LongList;
import org.jspecify.annotations.Nullable;
import understudy.prompt.HashRun;
import understudy.prompt.ReversedRuns;
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
     * @param blockHashes hashes of the blocks, in order; at least one, unless a group keeps none of its range; a {@link
     *     HashRun} where the memory knows the whole sequence
     * @param hasParent whether there is a block before the first one
     * @param parentHash hash of the block before the first one; meaningless without one
     * @param tokens the request's tokens
     * @param firstToken position in {@code tokens} of the first block's first token
     * @param loraName the LoRA adapter's name, or empty
     * @param cacheSalt salt that keeps the blocks apart from others with the same tokens, or empty
     * @param range the group that stores them, and what it has looked at; null if it is the only one, and stores all
     */
    record Stored(
            LongList blockHashes,
            boolean hasParent,
            long parentHash,
            TokenSource tokens,
            int firstToken,
            String loraName,
            String cacheSalt,
            @Nullable GroupRange range)
            implements KvEvent {

        /** Describes blocks of a memory in which all layers need everything. */
        public Stored(
                LongList blockHashes,
                boolean hasParent,
                long parentHash,
                TokenSource tokens,
                int firstToken,
                String loraName,
                String cacheSalt) {
            this(blockHashes, hasParent, parentHash, tokens, firstToken, loraName, cacheSalt, null);
        }

        /** Describes blocks of the base model, without a salt. */
        public Stored(LongList blockHashes, boolean hasParent, long parentHash, TokenSource tokens, int firstToken) {
            this(blockHashes, hasParent, parentHash, tokens, firstToken, "", "", null);
        }
    }

    /**
     * A run of consecutive blocks became findable, which are published one by one (SGLang).
     *
     * @param blockHashes hashes of the blocks, at least one
     * @param tokens the request's tokens
     * @param loraName the LoRA adapter's name, or empty
     * @param cacheSalt salt that keeps the blocks apart from others with the same tokens, or empty
     */
    record StoredEach(HashRun blockHashes, TokenSource tokens, String loraName, String cacheSalt) implements KvEvent {

        /** Returns what is published of one block. */
        public Stored block(int index, int blockSize) {
            int block = blockHashes.from() + index;
            return new Stored(
                    LongList.of(blockHashes.getLong(index)),
                    block > 0,
                    block > 0 ? blockHashes.path().get(block - 1) : 0,
                    tokens,
                    block * blockSize,
                    loraName,
                    cacheSalt);
        }
    }

    /**
     * Blocks were given out again, and their content with them.
     *
     * @param blockHashes the hashes that the blocks carried, in the order of eviction; at least one; a {@link HashRun} or
     *     {@link ReversedRuns} where the memory knows the whole sequences
     * @param groupIndex the group whose content they held
     */
    record Removed(LongList blockHashes, int groupIndex) implements KvEvent {

        /** Describes blocks of a memory in which all layers need everything. */
        public Removed(LongList blockHashes) {
            this(blockHashes, 0);
        }
    }

    /**
     * Range of a sequence in one group of a memory, which need not keep all of its blocks.
     *
     * @param index of the group
     * @param numTokens tokens of the range, from the first of the event on
     */
    record GroupRange(int index, KvGroup group, int numTokens) {}

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
