package understudy.routing.admission;

import static java.util.Objects.requireNonNull;

import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;

/**
 * Requests that wait in a router, in the order of their {@link QueueSpec}.
 *
 * @param <R> entry of the queue
 */
final class WaitingRoom<R> {
    private final QueueSpec spec;
    private final Long2ObjectLinkedOpenHashMap<Waiting<R>> all = new Long2ObjectLinkedOpenHashMap<>();
    private final TreeMap<Integer, TreeMap<String, Line<R>>> byPriority = new TreeMap<>();

    /** Prompt tokens served of each tenant, since the room was empty. */
    private final Map<String, Long> served = new TreeMap<>();

    private record Waiting<R>(Request request, R waiter, long sinceNanos) {}

    /** Those of one tenant and one priority, as they have come. */
    private static final class Line<R> extends Long2ObjectLinkedOpenHashMap<Waiting<R>> {
        private static final long serialVersionUID = 1L;
    }

    WaitingRoom(QueueSpec spec) {
        this.spec = spec;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    int size() {
        return all.size();
    }

    void add(Request request, R waiter, long nowNanos) {
        var waiting = new Waiting<>(request, waiter, nowNanos);
        all.put(request.id(), waiting);
        if (spec.order() == QueueSpec.Order.FAIR) {
            enter(request.tenant());
        }
        byPriority
                .computeIfAbsent(priority(request), priority -> new TreeMap<>())
                .computeIfAbsent(tenant(request), tenant -> new Line<>())
                .put(request.id(), waiting);
    }

    /** A tenant that was away has no claim to what it did not ask for: it begins where the others are. */
    private void enter(String tenant) {
        boolean isHere = byPriority.values().stream().anyMatch(lines -> lines.containsKey(tenant));
        if (!isHere) {
            long least = byPriority.values().stream()
                    .flatMap(lines -> lines.keySet().stream())
                    .mapToLong(other -> served.getOrDefault(other, 0L))
                    .min()
                    .orElse(0);
            served.merge(tenant, least, Math::max);
        }
    }

    /** Removes and returns the first entry; the room must not be empty. */
    R poll() {
        var lines = byPriority.firstEntry().getValue();
        String tenant = lines.keySet().stream()
                .min((one, other) -> Long.compare(served.getOrDefault(one, 0L), served.getOrDefault(other, 0L)))
                .orElseThrow();
        var line = requireNonNull(lines.get(tenant));
        var first = line.get(line.firstLongKey());
        if (spec.order() == QueueSpec.Order.FAIR) {
            served.merge(tenant, (long) first.request.prompt().length(), Long::sum);
        }
        take(first);
        return first.waiter;
    }

    @Nullable R remove(long requestId) {
        var waiting = all.get(requestId);
        if (waiting == null) {
            return null;
        }
        take(waiting);
        return waiting.waiter;
    }

    List<R> expired(long nowNanos) {
        var expired = new ArrayList<R>();
        while (nextExpiryNanos() <= nowNanos) {
            var first = all.get(all.firstLongKey());
            take(first);
            expired.add(first.waiter);
        }
        return expired;
    }

    long nextExpiryNanos() {
        return all.isEmpty() ? Long.MAX_VALUE : all.get(all.firstLongKey()).sinceNanos + spec.maxWaitNanos();
    }

    private void take(Waiting<R> waiting) {
        var request = waiting.request;
        all.remove(request.id());
        var lines = requireNonNull(byPriority.get(priority(request)));
        var line = requireNonNull(lines.get(tenant(request)));
        line.remove(request.id());
        if (line.isEmpty()) {
            lines.remove(tenant(request));
        }
        if (lines.isEmpty()) {
            byPriority.remove(priority(request));
        }
        if (all.isEmpty()) {
            served.clear();
        }
    }

    private Integer priority(Request request) {
        return spec.order() == QueueSpec.Order.FCFS ? 0 : request.priority();
    }

    private String tenant(Request request) {
        return spec.order() == QueueSpec.Order.FAIR ? request.tenant() : "";
    }
}
