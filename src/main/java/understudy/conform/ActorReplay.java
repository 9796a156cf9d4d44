package understudy.conform;

import java.util.concurrent.CompletableFuture;
import understudy.runtime.VirtualTime;

/** Replays a recorded run through the real actors in virtual time. */
public final class ActorReplay {
    private ActorReplay() {}

    public static ReplayedRun replay(RecordedRun run) {
        var replayed = new CompletableFuture<ReplayedRun>();
        try (var time = VirtualTime.<DecisionReplay.Command>create(
                "conform", clock -> DecisionReplay.create(clock, run, new Completing(replayed)))) {
            time.onIdle(() ->
                    replayed.completeExceptionally(new IllegalStateException("the replay has stalled before its end")));
            time.system().tell(DecisionReplay.Start.NOW);
            time.run(Double.POSITIVE_INFINITY);
            return replayed.join();
        }
    }

    private record Completing(CompletableFuture<ReplayedRun> replayed) implements DecisionReplay.Observer {
        @Override
        public void onEnded(ReplayedRun run) {
            replayed.complete(run);
        }

        @Override
        public void onFailed(Throwable cause) {
            replayed.completeExceptionally(cause);
        }
    }
}
