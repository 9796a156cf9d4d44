package understudy.latency;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.ints.Int2ObjectAVLTreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Measured times of a kernel by one or more whole numbers, such as tokens, with interpolation between them. The points
 * need not form a full grid: below each value of one number stand whatever values of the next were measured with it.
 *
 * <p>Between two values times are interpolated linearly, below the first they stay, above the last they go on as they
 * did over the last half of the range, which is robust against steps of single tiles.
 */
public final class KernelTable {
    private final int[] keys;
    private final KernelTable @Nullable [] children;
    private final double[] micros;

    private KernelTable(int[] keys, KernelTable @Nullable [] children, double[] micros) {
        this.keys = keys;
        this.children = children;
        this.micros = micros;
    }

    /** Collects points. */
    public static final class Builder {
        private final Int2ObjectAVLTreeMap<Builder> children = new Int2ObjectAVLTreeMap<>();
        private final DoubleArrayList micros = new DoubleArrayList();

        /**
         * Adds a point; of equal points the last counts.
         *
         * @param micros the measured time, in microseconds
         * @param point the numbers, as many for every point
         */
        public void add(double micros, int... point) {
            var node = this;
            for (int number : point) {
                node = node.children.computeIfAbsent(number, n -> new Builder());
            }
            node.micros.add(micros);
        }

        /** Returns whether there are no points. */
        public boolean isEmpty() {
            return children.isEmpty();
        }

        /** Returns the table; there must be points. */
        public KernelTable build() {
            if (isEmpty()) {
                throw new IllegalStateException("a table without points");
            }
            return buildNode();
        }

        private KernelTable buildNode() {
            var keys = children.keySet().toIntArray();
            var nodes = children.values().toArray(Builder[]::new);
            boolean isLeaf = nodes[0].children.isEmpty();
            var values = new double[keys.length];
            var tables = isLeaf ? null : new KernelTable[keys.length];
            for (int i = 0; i < keys.length; i++) {
                if (tables == null) {
                    values[i] = nodes[i].micros.getDouble(nodes[i].micros.size() - 1);
                } else {
                    tables[i] = nodes[i].buildNode();
                }
            }
            return new KernelTable(keys, tables, values);
        }
    }

    /** Returns the largest value that the first number was measured with. */
    public int maxKey() {
        return keys[keys.length - 1];
    }

    /** Returns the largest value that the last number was measured with. */
    int maxLastKey() {
        int max = 0;
        if (children == null) {
            return maxKey();
        }
        for (var child : children) {
            max = Math.max(max, child.maxLastKey());
        }
        return max;
    }

    /** Returns the smallest value of the first number that is above {@code bound}, or {@code bound} if none is. */
    int firstKeyAbove(int bound) {
        for (int key : keys) {
            if (key > bound) {
                return key;
            }
        }
        return bound;
    }

    double micros(double x) {
        return interpolate(x, 0, 0, 0);
    }

    double micros(double x, double y) {
        return interpolate(x, y, 0, 0);
    }

    double micros(double x, double y, double z, double u) {
        return interpolate(x, y, z, u);
    }

    private double interpolate(double x, double y, double z, double u) {
        int last = keys.length - 1;
        if (x <= keys[0] || last == 0) {
            return at(0, y, z, u);
        }
        if (x > keys[last]) {
            int half = indexAtMost(keys[last] / 2.0);
            return along(half, last, x, y, z, u);
        }
        int low = indexAtMost(x);
        return keys[low] == x ? at(low, y, z, u) : along(low, low + 1, x, y, z, u);
    }

    private double along(int low, int high, double x, double y, double z, double u) {
        double atLow = at(low, y, z, u);
        double share = (x - keys[low]) / (keys[high] - keys[low]);
        return Math.max(0, atLow + (at(high, y, z, u) - atLow) * share);
    }

    private double at(int index, double y, double z, double u) {
        return children == null ? micros[index] : children[index].interpolate(y, z, u, 0);
    }

    /**
     * Returns the last key that is not above {@code x}; there must be one, and if it is the last key, the one before.
     */
    private int indexAtMost(double x) {
        int low = 0;
        int high = keys.length - 1;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (keys[middle] <= x) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
