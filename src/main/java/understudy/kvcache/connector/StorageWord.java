package understudy.kvcache.connector;

import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Word of a memory to the storage behind its host, about a job that it has begun: the memory decides what is to be moved
 * when, and whoever has the storage and its link only carries it out.
 */
public sealed interface StorageWord {

    /** Looks how many leading pages are there; they stay until {@link End}. */
    record Find(long job, LongList keys) implements StorageWord {}

    /** Looks which pages are missing, and makes room for them. */
    record Prepare(long job, LongList keys) implements StorageWord {}

    /**
     * Moves pages.
     *
     * @param requestId for which it is, or -1
     * @param isRead whether from the storage; else to it
     */
    record Move(long job, long requestId, boolean isRead, int numPages) implements StorageWord {}

    /** The job is over. */
    record End(long job, boolean isRead, boolean isFailed) implements StorageWord {}

    /** The scheduler should look at its waiting requests. */
    record Look() implements StorageWord {}

    /** It should look then, unless the job is over. */
    record LookAt(long job, long atNanos) implements StorageWord {}
}
