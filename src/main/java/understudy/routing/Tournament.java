package understudy.routing;

import it.unimi.dsi.fastutil.ints.IntComparator;
import java.util.Arrays;

/**
 * The first of some replicas in an order that changes: a tree in which each node has the first one of those below it, so
 * that a change of one replica concerns the nodes above it alone. Among equals the lowest index is first. Not thread safe.
 */
final class Tournament {
    static final int NONE = -1;

    private final IntComparator order;

    /** By node the first replica below it, or {@link #NONE}: the root is node 1, and the leaves are the upper half. */
    private int[] first = {NONE, NONE};

    Tournament(IntComparator order) {
        this.order = order;
    }

    /** Returns the first replica, or {@link #NONE}. */
    int first() {
        return first[1];
    }

    /** Records that a replica takes part, or does so no more, or may have another place in the order. */
    void update(int replica, boolean takesPart) {
        while (replica >= first.length / 2) {
            grow();
        }
        int node = first.length / 2 + replica;
        first[node] = takesPart ? replica : NONE;
        for (node /= 2; node > 0; node /= 2) {
            int before = first[node];
            first[node] = firstOf(first[node * 2], first[node * 2 + 1]);
            if (first[node] == before && before != replica) {
                return;
            }
        }
    }

    private int firstOf(int left, int right) {
        boolean isRightFirst = left == NONE || (right != NONE && order.compare(right, left) < 0);
        return isRightFirst ? right : left;
    }

    /** Doubles the number of leaves: the tree so far becomes the left half. */
    private void grow() {
        var grown = new int[first.length * 2];
        Arrays.fill(grown, NONE);
        grown[1] = first[1];
        for (int row = 1; row < first.length; row *= 2) {
            System.arraycopy(first, row, grown, row * 2, row);
        }
        first = grown;
    }
}
