package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Objects;

/** Transfers under way between a GPU and its host's memory, by their numbers. */
final class OffloadingJobs {
    private final Long2ObjectOpenHashMap<Job> jobs = new Long2ObjectOpenHashMap<>();
    private long nextNumber;

    /** Transfer of chunks; a store reads {@code gpuBlocks}. */
    record Job(OffloadedRequest owner, LongList keys, boolean isStore, IntArrayList gpuBlocks) {}

    /** Adds a job of its request, and returns its number. */
    long begin(Job job) {
        long number = nextNumber();
        jobs.put(number, job);
        job.owner.jobs.add(number);
        return number;
    }

    /** Returns a number that no other job has. */
    long nextNumber() {
        return nextNumber++;
    }

    void replace(long number, Job job) {
        jobs.put(number, job);
    }

    Job running(long number) {
        return Objects.requireNonNull(jobs.get(number), () -> "job " + number + " is not running");
    }

    void remove(long number) {
        jobs.remove(number);
    }
}
