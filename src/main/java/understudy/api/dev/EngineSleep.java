package understudy.api.dev;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ClusterControl;
import understudy.api.http.ApiException;
import understudy.faults.ClusterChange;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaState;
import understudy.faults.SleepMode;

/**
 * Sleep of engines, from whichever port it is asked for: of one replica, or of all of them. An engine whose parts are
 * woken up one by one sleeps until the last of them is awake. Thread-safe.
 */
public final class EngineSleep {
    private static final Set<String> PARTS = Set.of("weights", "kv_cache");

    private final ClusterControl cluster;
    /** Parts that still sleep. */
    private final Map<Integer, Set<String>> asleep = new ConcurrentHashMap<>();

    public EngineSleep(ClusterControl cluster) {
        this.cluster = cluster;
    }

    /**
     * Puts engines to sleep.
     *
     * @param replica the one, or empty for all that are awake or asleep
     * @param level vLLM's, 0 to 2
     * @param mode treatment of their requests
     * @return is complete once all are asleep, or will not be
     */
    public CompletionStage<Void> sleep(OptionalInt replica, int level, SleepMode mode) {
        // The one that is meant says if it cannot.
        Predicate<ReplicaState> isMeant =
                state -> replica.isPresent() || state == ReplicaState.READY || state.isAsleep();
        return change(replica, isMeant, index -> {
            asleep.put(index, level == 0 ? Set.of() : PARTS);
            return List.of(new FleetChange.Sleep(index, level, mode));
        });
    }

    /**
     * Wakes engines up.
     *
     * @param tags the parts, or none for all
     */
    public CompletionStage<Void> wakeUp(OptionalInt replica, Set<String> tags) {
        return change(replica, ReplicaState::isAsleep, index -> {
            var rest = asleep.compute(index, (engine, parts) -> without(parts == null ? PARTS : parts, tags));
            return rest == null ? List.of(new FleetChange.Wake(index)) : List.of();
        });
    }

    /** Returns the parts that still sleep, or null if none does. */
    private static @Nullable Set<String> without(Set<String> parts, Set<String> tags) {
        var rest = new HashSet<>(parts);
        rest.removeAll(tags.isEmpty() ? PARTS : tags);
        return rest.isEmpty() ? null : Set.copyOf(rest);
    }

    /** Returns whether an engine is asleep at any level; of several, whether none is awake. */
    CompletionStage<Boolean> isSleeping(OptionalInt replica) {
        return cluster.states().thenApply(states -> {
            var up = of(replica, states).stream()
                    .map(states::get)
                    .filter(ReplicaState::isUp)
                    .toList();
            return !up.isEmpty() && up.stream().allMatch(ReplicaState::isAsleep);
        });
    }

    private static List<Integer> of(OptionalInt replica, List<ReplicaState> states) {
        var indexes = new ArrayList<Integer>();
        for (int i = 0; i < states.size(); i++) {
            if (replica.isEmpty() || replica.getAsInt() == i) {
                indexes.add(i);
            }
        }
        return indexes;
    }

    private CompletionStage<Void> change(
            OptionalInt replica, Predicate<ReplicaState> isMeant, Function<Integer, List<ClusterChange>> changes) {
        return cluster.states()
                .thenCompose(states -> CompletableFuture.allOf(of(replica, states).stream()
                        .filter(index -> isMeant.test(states.get(index)))
                        .flatMap(index -> changes.apply(index).stream())
                        .map(this::change)
                        .toArray(CompletableFuture<?>[]::new)));
    }

    private CompletableFuture<Void> change(ClusterChange change) {
        return cluster.change(change)
                .thenAccept(refusal -> refusal.ifPresent(why -> {
                    throw new ApiException(409, "ConflictError", why, null);
                }))
                .thenCompose(done -> awaitAsleep(change))
                .toCompletableFuture();
    }

    private CompletionStage<Void> awaitAsleep(ClusterChange change) {
        return change instanceof FleetChange.Sleep sleep && sleep.mode() == SleepMode.WAIT
                ? cluster.order(OptionalInt.of(sleep.replica()), ReplicaOrder.AwaitAsleep.NOW)
                        .thenAccept(asleep -> {})
                : CompletableFuture.completedFuture(null);
    }
}
