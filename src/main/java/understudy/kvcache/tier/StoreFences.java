package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongCollection;
import it.unimi.dsi.fastutil.longs.LongRBTreeSet;

/**
 * Fences of blocks that a store still reads although their request has ended: who writes to one of them must wait for
 * the store.
 */
final class StoreFences {
    private final Int2ObjectOpenHashMap<LongArrayList> jobsByBlock = new Int2ObjectOpenHashMap<>();
    private final IntOpenHashSet newBlocks = new IntOpenHashSet();
    private final LongRBTreeSet toFlush = new LongRBTreeSet();
    private long[] flushed = new long[0];

    /** Adds a block that is written to by the step that is being planned. */
    void addNew(int block) {
        newBlocks.add(block);
    }

    void add(long job, IntList blocks) {
        blocks.forEach(block ->
                jobsByBlock.computeIfAbsent(block, any -> new LongArrayList()).add(job));
    }

    void remove(long job, IntList blocks) {
        blocks.forEach(block -> {
            var jobs = jobsByBlock.get(block);
            if (jobs != null && jobs.rem(job) && jobs.isEmpty()) {
                jobsByBlock.remove(block);
            }
        });
    }

    /** Has the step wait for jobs. */
    void flush(LongCollection jobs) {
        toFlush.addAll(jobs);
    }

    /** Has the step wait for the jobs that read blocks that it writes. */
    void flushOverwritten() {
        if (!jobsByBlock.isEmpty()) {
            newBlocks.forEach(block -> toFlush.addAll(jobsByBlock.getOrDefault(block, new LongArrayList())));
        }
    }

    /** Has the step wait for a job if it reads blocks that the step writes. */
    void flushIfOverwritten(long job, IntList blocks) {
        if (blocks.intStream().anyMatch(newBlocks::contains)) {
            toFlush.add(job);
        }
    }

    /** Ends the plan of a step. */
    void endStep() {
        flushed = toFlush.toLongArray();
        toFlush.clear();
        newBlocks.clear();
    }

    /** Returns the jobs that the step planned last has to wait for, in ascending order. */
    long[] flushed() {
        return flushed;
    }
}
