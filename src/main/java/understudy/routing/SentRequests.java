package understudy.routing;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import org.jspecify.annotations.Nullable;

/** Account of the requests that a router has sent and whose answers it has not seen the end of: sums by replica. */
final class SentRequests {
    private final Long2ObjectOpenHashMap<Entry> byRequest = new Long2ObjectOpenHashMap<>();
    private final LongArrayList promptTokens = new LongArrayList();
    private final LongArrayList prefillTokens = new LongArrayList();
    private final LongArrayList prefillNanos = new LongArrayList();

    /** Share of one request in the sums of its replica. */
    record Entry(int replica, int numPromptTokens, int numPrefillTokens, long prefillNanos) {
        private Entry withoutPrefill() {
            return new Entry(replica, numPromptTokens, 0, 0);
        }
    }

    void addReplica() {
        promptTokens.add(0);
        prefillTokens.add(0);
        prefillNanos.add(0);
    }

    void onSent(long requestId, Entry entry) {
        onEnded(requestId);
        put(requestId, entry);
    }

    void onFirstToken(long requestId) {
        var entry = remove(requestId);
        if (entry != null) {
            put(requestId, entry.withoutPrefill());
        }
    }

    void onEnded(long requestId) {
        remove(requestId);
    }

    long promptTokens(int replica) {
        return promptTokens.getLong(replica);
    }

    long prefillTokens(int replica) {
        return prefillTokens.getLong(replica);
    }

    long prefillNanos(int replica) {
        return prefillNanos.getLong(replica);
    }

    private void put(long requestId, Entry entry) {
        byRequest.put(requestId, entry);
        add(entry, 1);
    }

    private @Nullable Entry remove(long requestId) {
        var entry = byRequest.remove(requestId);
        if (entry != null) {
            add(entry, -1);
        }
        return entry;
    }

    private void add(Entry entry, long sign) {
        add(promptTokens, entry.replica, sign * entry.numPromptTokens);
        add(prefillTokens, entry.replica, sign * entry.numPrefillTokens);
        add(prefillNanos, entry.replica, sign * entry.prefillNanos);
    }

    private static void add(LongArrayList sums, int replica, long amount) {
        sums.set(replica, sums.getLong(replica) + amount);
    }
}
