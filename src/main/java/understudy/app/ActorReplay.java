package understudy.app;

import java.util.concurrent.CompletableFuture;
import understudy.cluster.DecisionReplay;
import understudy.runtime.VirtualTime;
import understudy.workload.RecordedRun;
import understudy.workload.ReplayedRun;

/** Replays a recorded run through the real actors in virtual time. */
final class ActorReplay {
    private ActorReplay() {}

    static ReplayedRun replay(RecordedRun run) {
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
