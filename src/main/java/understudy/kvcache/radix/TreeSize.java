package understudy.kvcache.radix;

/**
 * Size of a memory's tree.
 *
 * @param numNodes nodes without the root
 * @param numTokens tokens that are on the device
 */
public record TreeSize(int numNodes, int numTokens) {
    public static final TreeSize NOTHING = new TreeSize(0, 0);
}
