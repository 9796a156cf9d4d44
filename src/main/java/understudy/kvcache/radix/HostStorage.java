package understudy.kvcache.radix;

import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import understudy.figure.OwnFigure;
import understudy.kvcache.StoredPages;
import understudy.kvcache.connector.StorageWord;

/**
 * Storage behind the host as a memory sees it (SGLang {@code managers/cache_controller.py}): pages that waiting requests
 * fetch from it, and nodes that are written to it. Fetches are looked up at once and read one after the other, as nodes
 * are written.
 */
final class HostStorage implements StoredPages {
    /** Pages of a read ({@code storage_batch_size}). */
    private static final int BATCH_PAGES = 128;

    private static final int TOKENS_PER_KI = 1024;

    private final RadixConfig.Storage config;
    private final int pageSize;
    private final int threshold;

    /** Tokens in fetches from which on none is begun. */
    private final int capacity;

    private final HostTree tree;

    /** Fetches that a request waits for, by its handle. */
    private final Int2ObjectOpenHashMap<Fetch> waiting = new Int2ObjectOpenHashMap<>();

    /** Jobs of which the storage knows. */
    private final Long2ObjectLinkedOpenHashMap<Fetch> fetches = new Long2ObjectLinkedOpenHashMap<>();

    private final Long2ObjectLinkedOpenHashMap<Backup> backups = new Long2ObjectLinkedOpenHashMap<>();

    /** Fetches that are read, the first of them now. */
    private final ArrayDeque<Fetch> reads = new ArrayDeque<>();

    private List<StorageWord> words = new ArrayList<>();
    private long nowNanos;
    private long numJobs;
    private int numTokensInFetches;

    private long numFetchedTokens;
    private long numBackedUpTokens;
    private long numRevoked;

    /** Fetch for a request ({@code PrefetchOperation}). */
    private static final class Fetch {
        final long job;
        final long requestId;
        final RadixLookup lookup;

        /** Node behind whose tokens the pages follow; it has a copy on the host, or is the root. */
        final RadixNode last;

        final int from;
        final int[] pages;
        final long[] hashes;
        final long beganNanos;

        /** Pages that the storage has, 0 before that is known. */
        int numFound;

        int numRead;
        boolean hasFailed;

        /** Whether no request waits for it any more. */
        boolean isEnded;

        Fetch(
                long job,
                long requestId,
                RadixLookup lookup,
                RadixNode last,
                int from,
                int[] pages,
                long[] hashes,
                long beganNanos) {
            this.job = job;
            this.requestId = requestId;
            this.lookup = lookup;
            this.last = last;
            this.from = from;
            this.pages = pages;
            this.hashes = hashes;
            this.beganNanos = beganNanos;
        }

        boolean isComplete() {
            return numFound > 0 && numRead == numFound;
        }

        /** Returns how many pages have places on the host. */
        int numHeld() {
            return numFound > 0 ? numFound : pages.length;
        }

        int numInBatch() {
            return Math.min(BATCH_PAGES, numFound - numRead);
        }

        void forEachPage(IntConsumer consumer) {
            for (int i = isEnded ? numRead : 0; i < numHeld(); i++) {
                consumer.accept(pages[i]);
            }
        }
    }

    /** Node that is written ({@code write_backup_storage}). */
    private static final class Backup {
        final long job;
        final RadixNode node;
        final LongList keys;
        int numPages;

        /** Pages of the node, once it has left the tree. */
        int[] orphaned = new int[0];

        Backup(long job, RadixNode node) {
            this.job = job;
            this.node = node;
            keys = new LongImmutableList(node.pageHashes);
        }
    }

    HostStorage(RadixConfig.Storage config, int pageSize, int hostTokens, HostTree tree) {
        this.config = config;
        this.pageSize = pageSize;
        this.tree = tree;
        threshold = Math.max(config.prefetchThreshold(), pageSize);
        capacity = hostTokens / 2;
    }

    void setNow(long atNanos) {
        nowNanos = Math.max(nowNanos, atNanos);
    }

    /**
     * Begins to fetch what follows the tokens that device and host have ({@code prefetch_from_storage}), if it is long
     * enough, and the host has room.
     *
     * @param last last node of the tokens that are there
     * @param from number of these tokens
     */
    void begin(RadixLookup lookup, long requestId, int numTokens, RadixNode last, int from) {
        int numPages = (numTokens - from) / pageSize;
        boolean hasCopy = last.isRoot() || last.hostPages != null;
        if (!hasCopy || numPages * pageSize < threshold || numTokensInFetches >= capacity) {
            return;
        }
        last.storageUses++;
        int[] pages = tree.takeHostPages(numPages);
        if (pages == null) {
            last.storageUses--;
            return;
        }
        var hashes = tree.pageHashes(last, lookup.tokens(), lookup.extraKey(), from, from + numPages * pageSize);
        var fetch = new Fetch(numJobs++, requestId, lookup, last, from, pages, hashes, nowNanos);
        waiting.put(lookup.handle(), fetch);
        fetches.put(fetch.job, fetch);
        numTokensInFetches += numPages * pageSize;
        words.add(new StorageWord.Find(fetch.job, new LongImmutableList(hashes)));
        lookWhenDue(fetch);
    }

    private void lookWhenDue(Fetch fetch) {
        if (config.policy() == RadixConfig.PrefetchPolicy.TIMEOUT) {
            words.add(new StorageWord.LookAt(fetch.job, fetch.beganNanos + timeoutNanos(fetch) + 1));
        }
    }

    private long timeoutNanos(Fetch fetch) {
        return config.timeoutBaseNanos()
                + Math.round((double) fetch.numFound * pageSize * config.timeoutPerKiTokenNanos() / TOKENS_PER_KI);
    }

    /**
     * Ends the fetch for a request that could be prefilled now, if it may end; what has come is in the tree then ({@code
     * check_prefetch_progress}).
     *
     * @return whether the request has no fetch any more
     */
    boolean end(int handle) {
        var fetch = waiting.get(handle);
        if (fetch == null) {
            return true;
        }
        if (!mayEnd(fetch)) {
            return false;
        }
        int to = fetch.from + fetch.numRead * pageSize;
        if (fetch.last.isRemoved) {
            tree.freeHostPages(fetch.pages, 0, fetch.numRead);
        } else {
            numFetchedTokens += tree.insertFetched(fetch.last, fetch.lookup, fetch.from, to, fetch.pages, fetch.hashes);
        }
        leave(fetch);
        return true;
    }

    private boolean mayEnd(Fetch fetch) {
        return config.policy() == RadixConfig.PrefetchPolicy.BEST_EFFORT
                || fetch.hasFailed
                || fetch.isComplete()
                || (config.policy() == RadixConfig.PrefetchPolicy.TIMEOUT
                        && nowNanos - fetch.beganNanos > timeoutNanos(fetch));
    }

    /** Drops the fetch for a request that will not be prefilled ({@code release_aborted_request}). */
    void drop(int handle) {
        var fetch = waiting.get(handle);
        if (fetch != null) {
            tree.freeHostPages(fetch.pages, 0, fetch.numRead);
            leave(fetch);
        }
    }

    /** Its request waits for it no longer; what is under way ends before the rest of its pages is free. */
    private void leave(Fetch fetch) {
        waiting.remove(fetch.lookup.handle());
        fetch.isEnded = true;
        fetch.last.storageUses--;
        numTokensInFetches -= fetch.pages.length * pageSize;
        if (!fetches.containsKey(fetch.job)) {
            freeRest(fetch);
        } else if (fetch.numFound > 0 && reads.peek() != fetch) {
            reads.remove(fetch);
            close(fetch);
        }
    }

    private void freeRest(Fetch fetch) {
        tree.freeHostPages(fetch.pages, fetch.numRead, fetch.numHeld());
    }

    /** The storage need not keep the pages of a fetch any longer. */
    private void close(Fetch fetch) {
        fetches.remove(fetch.job);
        words.add(new StorageWord.End(fetch.job, true, false));
        if (fetch.isEnded) {
            freeRest(fetch);
        } else {
            words.add(new StorageWord.Look());
        }
    }

    @Override
    public void onFound(long job, int numPages) {
        var fetch = fetches.get(job);
        if (fetch.isEnded) {
            close(fetch);
        } else if (numPages * pageSize < threshold) {
            numRevoked++;
            leave(fetch);
            close(fetch);
            words.add(new StorageWord.Look());
        } else {
            tree.freeHostPages(fetch.pages, numPages, fetch.pages.length);
            fetch.numFound = numPages;
            lookWhenDue(fetch);
            reads.add(fetch);
            if (reads.size() == 1) {
                readNext();
            }
        }
    }

    private void readNext() {
        var fetch = reads.peek();
        if (fetch != null) {
            words.add(new StorageWord.Move(fetch.job, fetch.requestId, true, fetch.numInBatch()));
        }
    }

    @Override
    public void onMoved(long job, boolean isFailed) {
        var backup = backups.get(job);
        if (backup == null) {
            onRead(fetches.get(job), isFailed);
            return;
        }
        words.add(new StorageWord.End(job, false, isFailed));
        numBackedUpTokens += isFailed ? 0 : backup.numPages * pageSize;
        end(backup);
    }

    private void onRead(Fetch fetch, boolean isFailed) {
        if (!fetch.isEnded && !isFailed) {
            fetch.numRead += fetch.numInBatch();
        }
        fetch.hasFailed = isFailed;
        if (fetch.isEnded || isFailed || fetch.isComplete()) {
            reads.remove();
            close(fetch);
        }
        readNext();
    }

    /** Writes a node, whose copy on the host is there. */
    void backUp(RadixNode node) {
        var backup = new Backup(numJobs++, node);
        node.storageUses++;
        backups.put(backup.job, backup);
        if (backups.size() == 1) {
            writeNext();
        }
    }

    private void writeNext() {
        if (!backups.isEmpty()) {
            var backup = backups.get(backups.firstLongKey());
            words.add(new StorageWord.Prepare(backup.job, backup.keys));
        }
    }

    @Override
    public void onPrepared(long job, int numPages) {
        var backup = backups.get(job);
        backup.numPages = numPages;
        if (numPages > 0) {
            words.add(new StorageWord.Move(job, -1, false, numPages));
        } else {
            end(backup);
        }
    }

    private void end(Backup backup) {
        backups.remove(backup.job);
        backup.node.storageUses--;
        tree.freeHostPages(backup.orphaned, 0, backup.orphaned.length);
        writeNext();
    }

    /** Takes over the pages of a node that leaves the tree, if it is being written; returns whether it does. */
    boolean takeOver(RadixNode node, int[] pages) {
        for (var backup : backups.values()) {
            if (backup.node == node) {
                backup.orphaned = pages;
                return true;
            }
        }
        return false;
    }

    @Override
    public List<StorageWord> takeWords() {
        if (words.isEmpty()) {
            return List.of();
        }
        var taken = words;
        words = new ArrayList<>();
        return taken;
    }

    /** Returns whether anything is fetched or written. */
    boolean isBusy() {
        return !waiting.isEmpty() || !fetches.isEmpty() || !backups.isEmpty();
    }

    /** Returns what has been counted since the start; what was in the storage already does not count as written. */
    List<OwnFigure> ownFigures() {
        return List.of(
                OwnFigure.tokens("prefetched_tokens", "Prefetched from the storage", numFetchedTokens),
                OwnFigure.tokens("backuped_tokens", "Written to the storage", numBackedUpTokens),
                OwnFigure.count("revoked_prefetches", "Prefetches of which the storage had too little", numRevoked));
    }

    /** Tells of each page of the host that is no node's, nor free. */
    void forEachPage(IntConsumer consumer) {
        fetches.values().forEach(fetch -> fetch.forEachPage(consumer));
        for (var fetch : waiting.values()) {
            if (!fetches.containsKey(fetch.job)) {
                fetch.forEachPage(consumer);
            }
        }
        backups.values().forEach(backup -> Arrays.stream(backup.orphaned).forEach(consumer));
    }

    /** Returns how often a node is in use. */
    int numUses(RadixNode node) {
        int count = 0;
        for (var fetch : waiting.values()) {
            count += fetch.last == node ? 1 : 0;
        }
        for (var backup : backups.values()) {
            count += backup.node == node ? 1 : 0;
        }
        return count;
    }
}
