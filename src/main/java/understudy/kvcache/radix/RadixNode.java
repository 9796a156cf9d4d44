package understudy.kvcache.radix;

import org.jspecify.annotations.Nullable;
import understudy.prompt.HashRun;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSource;

/**
 * Node of a {@link RadixTree}: a run of tokens, and the pages that hold their KV (SGLang {@code TreeNode}). The tokens
 * are those of a sequence that went through the node, from {@link #from} on, which is also the node's depth in tokens:
 * a node holds no copy of them.
 */
final class RadixNode {
    private static final TokenSource NO_TOKENS = new TokenIds();
    private static final int[] NO_PAGES = new int[0];
    private static final long[] NO_HASHES = new long[0];

    final String extraKey;

    @Nullable RadixNode parent;

    TokenSource tokens = NO_TOKENS;
    int from;
    int length;

    /** Pages on the device, or null if the KV is on the host only. */
    int @Nullable [] pages = NO_PAGES;

    /** The blocks that end in it, if changes of the tree are told. */
    HashRun blocks = HashRun.NONE;

    /** Adapter and salt of these blocks. */
    String loraName = "";

    String cacheSalt = "";

    int locks;
    int hits;
    long priority;
    long access;
    long created;

    /** Children in the order in which they came, and the place of this node in such a list. */
    @Nullable RadixNode firstChild;

    @Nullable RadixNode lastChild;

    @Nullable RadixNode previous;

    @Nullable RadixNode next;

    /** Children with KV on the device. */
    int numDeviceChildren;

    /** Place in the table of nodes by their first page. */
    long keyHash;

    @Nullable RadixNode nextInBucket;

    /** Number that no other node of the tree has. */
    final int id;

    /** Place among the leaves that may be evicted, or -1. */
    int leafIndex = -1;

    boolean isRemoved;

    /** Pages of the copy on the host, or null if there is none. */
    int @Nullable [] hostPages;

    /** Copies to and from the host that are being made. */
    int hostUses;

    /** Hashes of its pages, by which a storage behind the host knows them; none without one. */
    long[] pageHashes = NO_HASHES;

    /** Fetches from the storage that go on behind it, and whether it is being written there ({@code host_ref_counter}). */
    int storageUses;

    /** Whether the KV of layers with a sliding window is there, too. */
    boolean hasWindow;

    int windowLocks;

    /** Mark of the node at which a lock of the window ends, or 0. */
    int windowMark;

    /** Neighbours in the order of eviction from the window; later ones were used before. */
    @Nullable RadixNode newer;

    @Nullable RadixNode older;

    boolean isListed;

    RadixNode(int id, String extraKey) {
        this.id = id;
        this.extraKey = extraKey;
    }

    boolean isRoot() {
        return parent == null;
    }

    boolean hasChildren() {
        return firstChild != null;
    }

    boolean isOnDevice() {
        return pages != null;
    }
}
