package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.IntArrayList;

/**
 * Effects of a result on the memory, in the order of the batch: what is cached, and what is released. Immutable once it
 * is built.
 */
public final class RadixSettlement implements RadixAsk {
    /** Nothing is cached or released. */
    private static final RadixSettlement NOTHING = new RadixSettlement(new int[0], false);

    private final int[] ops;
    private final boolean isGrouped;

    private RadixSettlement(int[] ops, boolean isGrouped) {
        this.ops = ops;
        this.isGrouped = isGrouped;
    }

    /** Returns whether nothing is to be done. */
    public boolean isEmpty() {
        return ops.length == 0;
    }

    @Override
    public boolean awaitsAnswer() {
        return false;
    }

    @Override
    public RadixAnswer decide(RadixMemory memory) {
        if (isGrouped) {
            memory.beginGroup();
        }
        for (int i = 0; i < ops.length; i += 2) {
            int handle = ops[i + 1];
            switch (ops[i]) {
                case Builder.CACHE -> memory.cacheUnfinished(handle, false);
                case Builder.CACHE_CHUNK -> memory.cacheUnfinished(handle, true);
                case Builder.RELEASE -> memory.release(handle, true);
                case Builder.DROP -> memory.release(handle, false);
                default -> memory.commit(handle, ops[i] - Builder.COMMIT);
            }
        }
        if (isGrouped) {
            memory.endGroup();
        }
        return RadixAnswer.DONE;
    }

    /** Collects a settlement. */
    public static final class Builder {
        private static final int CACHE = 0;
        private static final int CACHE_CHUNK = 1;
        private static final int RELEASE = 2;
        private static final int DROP = 3;
        private static final int COMMIT = 4;

        private final IntArrayList ops = new IntArrayList();
        private boolean isGrouped;

        /** Restarts. */
        public void begin() {
            ops.clear();
            isGrouped = false;
        }

        /** Says that what is freed is put back at once at the end, as for the result of a decode batch. */
        public void group() {
            isGrouped = true;
        }

        /** Caches what is computed of a request that goes on. */
        public void cache(int handle) {
            add(CACHE, handle);
        }

        /** Caches what is computed of a request whose prefill goes on. */
        public void cacheChunk(int handle) {
            add(CACHE_CHUNK, handle);
        }

        /** Releases a request, which is cached. */
        public void release(int handle) {
            add(RELEASE, handle);
        }

        /** Releases a request, which is not cached. */
        public void drop(int handle) {
            add(DROP, handle);
        }

        /** Counts tokens as computed that a verification has accepted. */
        public void commit(int handle, int numTokens) {
            add(COMMIT + numTokens, handle);
        }

        private void add(int op, int handle) {
            ops.add(op);
            ops.add(handle);
        }

        public boolean isEmpty() {
            return ops.isEmpty();
        }

        public RadixSettlement build() {
            return ops.isEmpty() ? NOTHING : new RadixSettlement(ops.toIntArray(), isGrouped);
        }
    }
}
