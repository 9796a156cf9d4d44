package understudy.api.http;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Stages whose next step runs on the thread that completes them. */
public final class SameThread {
    private SameThread() {}

    /**
     * Returns a stage that completes with another. Those of the HTTP library hand every further step to the common
     * pool, and on a machine with two cores, where that pool has a single thread, the JDK starts a new thread for each
     * instead.
     */
    public static <T> CompletionStage<T> after(CompletionStage<T> stage) {
        var after = new CompletableFuture<T>();
        stage.whenCompleteAsync(
                (value, failure) -> {
                    if (failure == null) {
                        after.complete(value);
                    } else {
                        after.completeExceptionally(failure);
                    }
                },
                Runnable::run);
        return after;
    }
}
