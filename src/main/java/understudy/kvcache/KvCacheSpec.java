package understudy.kvcache;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.connector.KvSource;
import understudy.prompt.BlockHasher;

/**
 * Settings of one replica's KV memory, as far as others need to know them. Each kind of memory has a record of its own.
 */
public interface KvCacheSpec {

    /** Returns the hasher of blocks, which carries {@code block-size}. */
    BlockHasher hasher();

    /** Returns the physical blocks, the null block included. */
    int numGpuBlocks();

    /** Returns the longest sequence in tokens, prompt and output together. */
    int maxModelLen();

    /** Returns whether prefixes stay findable. */
    boolean enablePrefixCaching();

    /** Returns the tokens that one request may have when no other request holds any blocks. */
    long maxTokens();

    /** Returns the tokens per block, or per hash where blocks have several sizes. */
    default int blockSize() {
        return hasher().blockSize();
    }

    /** Returns whether the number of blocks may change while requests run; see {@link KvCache#resize}. */
    default boolean isResizable() {
        return false;
    }

    /** Returns whether prefixes are found by session instead of by content. */
    default boolean findsBySession() {
        return false;
    }

    /** Returns whether the memory tells of changes of what is cached, if that is wanted. */
    default boolean publishesEvents() {
        return false;
    }

    /** Returns whether these may tell of any blocks, so that other memories decide which; else of its own ones. */
    default boolean tellsOfAnyBlocks() {
        return false;
    }

    /** Returns whether changes are wanted. */
    default boolean recordsEvents() {
        return false;
    }

    /** Returns whether the memory can exchange KV with others. */
    default boolean takesConnector() {
        return false;
    }

    /**
     * Returns whether replicas with roles push KV, from the one that computes prompts to the one that answers, so that both
     * have a request at the same time; else the one that answers reads.
     */
    default boolean isPushed() {
        return false;
    }

    /** Returns where KV from elsewhere comes from, or null if there is none. */
    default @Nullable ConnectorSpec connector() {
        return null;
    }

    /** Returns which memory is behind the host of one that moves its pages there by itself, or null if there is none. */
    default @Nullable KvSource storage() {
        return null;
    }

    /** Returns whether the last block of a hit is computed again, for a draft model (vLLM {@code use_eagle}). */
    default boolean dropsLastHit() {
        return false;
    }

    /** Returns the tokens per block of layers with states, as of linear attention; 0 if there are none. */
    default int stateBlockSize() {
        return 0;
    }

    /** Returns, in a line, why layers hold different parts of a sequence; empty if all hold everything. */
    default String groupsReason() {
        return "";
    }
}
