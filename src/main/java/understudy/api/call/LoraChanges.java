package understudy.api.call;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaOrder.AdapterAction;

/**
 * Changes of the LoRA adapters of the replicas behind a port, from calls of whichever dialect. An adapter is known when it
 * has been read; changes of one name take turns. Thread-safe.
 */
public final class LoraChanges {
    /** Names are kept until they are unloaded, so that clients must not add them for ever. */
    private static final int MAX_ADAPTERS = 10_000;

    private static final int MAX_CHARS = 4096;

    private final ApiContext api;
    private final OptionalInt replica;
    private final Map<String, CompletableFuture<?>> lastChanges = new ConcurrentHashMap<>();

    /** @param replica the one behind the port, or empty for all */
    public LoraChanges(ApiContext api, OptionalInt replica) {
        this.api = api;
        this.replica = replica;
    }

    /** Returns why a new adapter cannot be had here, whoever asks, or empty if it can. */
    public Optional<String> refusal(String name, String path) {
        if (api.settings().models().contains(name)) {
            return Optional.of("The lora adapter '" + name + "' has the name of a model that is served.");
        }
        if (api.loras().at(OptionalInt.empty()).size() >= MAX_ADAPTERS) {
            return Optional.of("There are " + MAX_ADAPTERS + " lora adapters already.");
        }
        boolean isTooLong = name.length() > MAX_CHARS || path.length() > MAX_CHARS;
        return isTooLong
                ? Optional.of("'lora_name' and 'lora_path' must have at most " + MAX_CHARS + " characters.")
                : Optional.empty();
    }

    /** Returns whether an adapter is known at the port. */
    public boolean isKnown(String name) {
        return api.loras().isKnown(name, replica);
    }

    /** Loads an adapter. */
    public CompletionStage<Void> load(String name, String path, boolean isInPlace) {
        return order(name, isInPlace ? AdapterAction.LOAD_INPLACE : AdapterAction.LOAD)
                .thenAccept(done -> api.loras().add(name, path, replica));
    }

    /** Unloads an adapter that is known. */
    public CompletionStage<Void> unload(String name) {
        return order(name, AdapterAction.UNLOAD)
                .thenAccept(
                        done -> api.loras().remove(name, replica, api.cluster().numReplicas()));
    }

    private CompletionStage<?> order(String name, AdapterAction action) {
        return api.cluster().order(replica, new ReplicaOrder.OfAdapter(name, action));
    }

    /** Begins a change when the one before it of the same name has ended. */
    public <T> CompletionStage<T> inTurn(String name, Supplier<CompletionStage<T>> change) {
        var mine = new CompletableFuture<T>();
        lastChanges.compute(name, (key, last) -> {
            CompletionStage<?> before = last == null ? CompletableFuture.completedFuture(null) : last;
            before.handle((ended, failure) -> null)
                    .thenCompose(ended -> change.get())
                    .whenComplete((result, failure) -> {
                        if (failure == null) {
                            mine.complete(result);
                        } else {
                            mine.completeExceptionally(failure);
                        }
                    });
            return mine;
        });
        return mine.whenComplete((ended, failure) -> lastChanges.remove(name, mine));
    }
}
