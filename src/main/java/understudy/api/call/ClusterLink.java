package understudy.api.call;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.cluster.Cluster;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.host.ClusterHost;
import understudy.runtime.VirtualTime;

/** Link between the HTTP edge and the emulated cluster: requests in, the events of each request back to its call. */
public final class ClusterLink {
    private final VirtualTime<Cluster.Command> time;
    private final ActorRef<Router.Command> router;
    private final ActorRef<RequestEvent> requestEvents;
    private final KeptKv keptKv;
    private final AdmissionControl admission;
    private final List<Watcher> watchers;
    private final ConcurrentHashMap<Long, InFlight> inFlight = new ConcurrentHashMap<>();
    private final AtomicLong nextId = new AtomicLong();

    /** A request that has not ended, and the call that it belongs to. */
    private record InFlight(Generation generation, Call call) {}

    /** Watcher of all requests. */
    public interface Watcher {
        /** A request has arrived, on the emulation's thread. */
        default void onSubmitted(Generation generation) {}

        /** A request goes to a replica, of which it is not told yet; only if tokens must be known when they are sampled. */
        default void onAdmitted(Generation generation, int replica) {}

        /** A request was turned away. */
        default void onRejected(Generation generation) {}

        /** A request has ended that was accepted. */
        default void onEnded(RequestEvent.Ended ended, Generation generation) {}
    }

    /**
     * Creates a link without requests.
     *
     * @param system in which the events of requests are received
     */
    public ClusterLink(
            ClusterHost host,
            ActorSystem<?> system,
            ActorRef<Router.Command> router,
            KeptKv keptKv,
            AdmissionControl admission,
            List<Watcher> watchers) {
        time = host.time();
        this.router = router;
        this.keptKv = keptKv;
        this.admission = admission;
        this.watchers = List.copyOf(watchers);
        requestEvents = host.spawn(system, listening(), "request-events");
    }

    /** Returns a number that no other request has. */
    public long nextId() {
        return nextId.getAndIncrement();
    }

    /** Returns the requests that have not ended, at most so many: the latest. */
    public List<Generation> newestInFlight(int max) {
        return inFlight.values().stream()
                .map(InFlight::generation)
                .sorted(Comparator.comparingLong(Generation::id).reversed())
                .limit(max)
                .toList();
    }

    /** Lets all requests of a call in, or returns why none is. */
    @Nullable ApiException admit(List<Generation> generations) {
        return admission.admit(generations);
    }

    /** Sends a request that was let in, which arrives at the virtual time that the wall clock calls for now. */
    void submit(Generation generation, Call call) {
        inFlight.put(generation.id(), new InFlight(generation, call));
        time.post(() -> {
            var request = generation.request(time.nowNanos(), time.speed());
            watchers.forEach(watcher -> watcher.onSubmitted(generation));
            boolean needsTokens = generation.needsTokens() || admission.needsFirstTokens();
            router.tell(
                    new Router.Submit(request, requestEvents, needsTokens, generation.replica(), generation.fault()));
        });
    }

    /** Gives up a request; its end is still told. */
    void abort(long id) {
        // As a task of the loop, so that it cannot overtake the request.
        time.post(() -> router.tell(new Router.Abort(id)));
    }

    private Behavior<RequestEvent> listening() {
        return Behaviors.receiveMessage(event -> {
            var request = inFlight.get(event.requestId());
            if (request != null) {
                deliver(event, request.generation, request.call);
            }
            return Behaviors.same();
        });
    }

    private void deliver(RequestEvent event, Generation generation, Call call) {
        admission.on(event, generation);
        if (event instanceof RequestEvent.Admitted admitted) {
            watchers.forEach(watcher -> watcher.onAdmitted(generation, admitted.replicaIndex()));
        }
        boolean isHeldBack = event instanceof RequestEvent.Finished finished
                && keptKv.holdsBack(finished, generation, requestEvents::tell);
        if (isHeldBack) {
            return;
        }
        call.on(generation, event);
        if (event instanceof RequestEvent.Ended ended) {
            inFlight.remove(event.requestId());
            watchers.forEach(watcher -> watcher.onEnded(ended, generation));
        } else if (event instanceof RequestEvent.Rejected) {
            inFlight.remove(event.requestId());
            watchers.forEach(watcher -> watcher.onRejected(generation));
        }
    }
}
