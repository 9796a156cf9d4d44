package understudy.api.live;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.time.Duration;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.SameThread;
import understudy.cluster.Cluster;

/**
 * Snapshots for live pages, as server-sent events. One is made four times a second while there are readers, however
 * many they are; a slow reader misses some, and nothing waits for it.
 */
public final class LiveFeed {
    /** Interval from one snapshot to the next, in wall time. */
    private static final Duration TICK = Duration.ofMillis(250);

    /** Interval from one point of the charts to the next, in wall time. */
    private static final Duration SAMPLE = Duration.ofSeconds(1);

    private static final int MAX_WATCHING = 32;
    private static final int MAX_IN_FLIGHT = 18;

    private final ApiContext api;
    private final LiveView view;
    private final String policy;
    private final ActorRef<Cluster.Status> states;
    private volatile ByteString latest = ByteString.emptyByteString();
    private int numWatching;
    private @Nullable Cancellable ticking;

    /**
     * Creates a feed without readers.
     *
     * @param policy the router's, for people
     */
    public LiveFeed(ApiContext api, LiveView view, String policy) {
        this.api = api;
        this.view = view;
        this.policy = policy;
        var system = api.system();
        states = system.systemActorOf(
                Behaviors.<Cluster.Status>receiveMessage(status -> {
                    view.onStates(status.replicas());
                    return Behaviors.same();
                }),
                "replica-states",
                Props.empty());
        every(SAMPLE, this::sample);
    }

    /** Returns the events for one reader: the past points, then a snapshot from time to time. */
    Source<ByteString, NotUsed> events() {
        requireRoom();
        var history = Source.single(event("history", view.history()));
        var snapshots = Source.tick(Duration.ZERO, TICK, NotUsed.getInstance())
                .map(tick -> latest)
                .dropRepeated();
        return history.concat(snapshots)
                .mapMaterializedValue(ignored -> {
                    join();
                    return NotUsed.getInstance();
                })
                .watchTermination((value, done) -> {
                    SameThread.after(done).whenComplete((ok, failure) -> leave());
                    return value;
                });
    }

    private synchronized void requireRoom() {
        if (numWatching >= MAX_WATCHING) {
            throw new ApiException(503, "ServiceUnavailable", "Too many live pages are open.", null);
        }
    }

    private synchronized void join() {
        numWatching++;
        if (ticking == null) {
            ticking = every(TICK, this::tick);
            tick();
        }
    }

    private synchronized void leave() {
        numWatching--;
        if (numWatching == 0 && ticking != null) {
            ticking.cancel();
            ticking = null;
        }
    }

    private Cancellable every(Duration interval, Runnable action) {
        var system = api.system();
        return system.scheduler().scheduleAtFixedRate(Duration.ZERO, interval, action, system.executionContext());
    }

    /** Asks for the states too: without a message the clock of a paced cluster stands still while nothing happens. */
    private void sample() {
        askForStates();
        view.sample(api.cluster().time().nowNanos());
    }

    private void askForStates() {
        api.cluster().time().system().tell(new Cluster.GetStatus(states));
    }

    private void tick() {
        askForStates();
        latest = event("snapshot", snapshot());
    }

    /** Complete content of the page. */
    record Snapshot(@JsonUnwrapped LiveView.Content content, String model, String policy, Clock clock) {}

    /** The clock of the emulation; speed is null unless it is paced. */
    record Clock(
            String mode,
            @Nullable Double speed,
            double virtualSeconds,
            double latenessP50,
            double latenessP99,
            double latenessMax) {}

    private Snapshot snapshot() {
        var inFlight = api.link().newestInFlight(MAX_IN_FLIGHT).stream()
                .map(LiveRequest::of)
                .toList();
        return new Snapshot(view.snapshot(inFlight), api.settings().servedModel(), policy, clock());
    }

    private Clock clock() {
        var time = api.cluster().time();
        double speed = time.speed();
        boolean isPaced = speed > 0 && Double.isFinite(speed);
        var lateness = time.lateness();
        return new Clock(
                speed == 0 ? "paused" : isPaced ? "paced by the wall clock" : "as fast as possible",
                isPaced ? Double.valueOf(speed) : null,
                time.nowNanos() / 1e9,
                lateness.p50Nanos() / 1e9,
                lateness.p99Nanos() / 1e9,
                lateness.maxNanos() / 1e9);
    }

    private static ByteString event(String name, Object data) {
        return ByteString.fromString("event: " + name + "\ndata: " + Json.write(data) + "\n\n");
    }
}
