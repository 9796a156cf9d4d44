package understudy.api.call;

import it.unimi.dsi.fastutil.ints.IntLists;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.cluster.sidechannel.SideChannel;
import understudy.engine.FinishReason;
import understudy.faults.ClusterChange;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaState;
import understudy.host.ClusterHost;
import understudy.host.Reply;
import understudy.runtime.VirtualTime;

/** Link between the HTTP edge and the emulated cluster: requests in, the events of each request back to its caller. */
public final class ClusterLink {
    private final VirtualTime<Cluster.Command> time;
    private final ActorSystem<?> system;
    private final ActorRef<Router.Command> router;
    private final ActorRef<RequestEvent> requestEvents;
    private final List<Watcher> watchers;
    private final int numReplicas;
    private final ConcurrentHashMap<Long, Generation> generations = new ConcurrentHashMap<>();
    private final AtomicLong nextId = new AtomicLong();

    /** Ends of requests that are told when it is known what is kept of them; of one thread. */
    private final Map<Long, RequestEvent.Finished> untold = new HashMap<>();

    private volatile @Nullable KvAddress kvAddress;

    /** Watcher of all requests. */
    public interface Watcher {
        /** A request has arrived, on the emulation's thread. */
        default void onSubmitted(Generation generation) {}

        /** A request was turned away. */
        default void onRejected(Generation generation) {}

        /** A request has ended that was accepted. */
        void onEnded(RequestEvent.Ended ended, Generation generation);
    }

    public ClusterLink(
            ClusterHost host,
            ActorSystem<?> system,
            ActorRef<Router.Command> router,
            List<Watcher> watchers,
            int numReplicas) {
        time = host.time();
        this.system = system;
        this.router = router;
        this.watchers = List.copyOf(watchers);
        this.numReplicas = numReplicas;
        requestEvents = host.spawn(system, listening(), "request-events");
    }

    /** Returns the emulation's clock and actor system. */
    public VirtualTime<Cluster.Command> time() {
        return time;
    }

    /** Returns how many replicas the cluster started with. */
    public int numReplicas() {
        return numReplicas;
    }

    /** Sets where other processes ask for KV that is kept for them. */
    public void setKvAddress(KvAddress address) {
        kvAddress = address;
    }

    /** Returns where other processes ask for KV that is kept for them; empty if none do. */
    public Optional<KvAddress> kvAddress() {
        return Optional.ofNullable(kvAddress);
    }

    /** Returns a number that no other request has. */
    public long nextId() {
        return nextId.getAndIncrement();
    }

    /** Returns the requests that have not ended, at most so many: the latest. */
    public List<Generation> newestInFlight(int max) {
        return generations.values().stream()
                .sorted(Comparator.comparingLong(Generation::id).reversed())
                .limit(max)
                .toList();
    }

    /** Sends a request, which arrives at the virtual time that the wall clock calls for now. */
    void submit(Generation generation) {
        generations.put(generation.id(), generation);
        time.post(() -> {
            var request = generation.request(time.nowNanos(), time.speed());
            watchers.forEach(watcher -> watcher.onSubmitted(generation));
            router.tell(new Router.Submit(
                    request, requestEvents, generation.needsTokens(), generation.replica(), generation.fault()));
        });
    }

    /** Gives up a request; its end is still told. */
    void abort(long id) {
        // As a task of the loop, so that it cannot overtake the request.
        time.post(() -> router.tell(new Router.Abort(id)));
    }

    /** Has all replicas forget their cached content, and tells whether all of them have. */
    public CompletionStage<Boolean> resetPrefixCache(boolean resetsRunning) {
        return Reply.ask(
                        system,
                        router,
                        Router.AllDone.class,
                        ref -> new Router.Order(
                                OptionalInt.empty(), new ReplicaOrder.ResetPrefixCache(resetsRunning), ref))
                .thenApply(Router.AllDone::isDone);
    }

    /** Has a replica, or with an empty one all, carry out an order; is complete when they have, however long that takes. */
    public CompletionStage<Router.AllDone> order(OptionalInt replica, ReplicaOrder order) {
        return Reply.await(system, router, Router.AllDone.class, ref -> new Router.Order(replica, order, ref));
    }

    /** Changes the cluster, and tells why that cannot be, or nothing. */
    public CompletionStage<Optional<String>> change(ClusterChange change) {
        return Reply.ask(system, time.system(), Cluster.Injected.class, ref -> new Cluster.Inject(change, ref))
                .thenApply(Cluster.Injected::refusal);
    }

    /** Returns the state of each replica, by index. */
    public CompletionStage<List<ReplicaState>> states() {
        return Reply.ask(system, time.system(), Cluster.Status.class, Cluster.GetStatus::new)
                .thenApply(Cluster.Status::replicas);
    }

    private Behavior<RequestEvent> listening() {
        return Behaviors.receiveMessage(event -> {
            deliver(event);
            return Behaviors.same();
        });
    }

    private void deliver(RequestEvent event) {
        if (event instanceof RequestEvent.Kept kept) {
            onKept(kept);
            return;
        }
        boolean isLast = !(event instanceof RequestEvent.Admitted || event instanceof RequestEvent.Token);
        var generation = isLast ? generations.remove(event.requestId()) : generations.get(event.requestId());
        if (generation == null) {
            return;
        }
        if (event instanceof RequestEvent.Finished finished && keeps(generation, finished)) {
            askKept(finished);
            generations.put(event.requestId(), generation);
            return;
        }
        tell(event, generation, isLast);
    }

    private void tell(RequestEvent event, Generation generation, boolean isLast) {
        generation.onEvent(event);
        if (event instanceof RequestEvent.Ended ended) {
            watchers.forEach(watcher -> watcher.onEnded(ended, generation));
        } else if (isLast) {
            watchers.forEach(watcher -> watcher.onRejected(generation));
        }
    }

    /** An answer that was aborted leaves nothing behind. */
    private boolean keeps(Generation generation, RequestEvent.Finished finished) {
        return kvAddress != null && generation.spec().isToKeep() && finished.reason() != FinishReason.ABORT;
    }

    private void askKept(RequestEvent.Finished finished) {
        long id = finished.requestId();
        untold.put(id, finished);
        askKept(finished.timing().replicaIndex(), SideChannel.Word.LOOK, id)
                .exceptionally(noAnswer -> new RequestEvent.Kept(id, IntLists.EMPTY_LIST))
                .thenAccept(requestEvents::tell);
    }

    /** Asks what a replica keeps of a request for other processes, and tells it what has become of that. */
    public CompletionStage<RequestEvent.Kept> askKept(int replica, SideChannel.Word word, long requestId) {
        return Reply.ask(
                system,
                RequestEvent.Kept.class,
                ref -> time.post(() -> time.system().tell(new Cluster.AskKept(replica, word, requestId, ref))));
    }

    private void onKept(RequestEvent.Kept kept) {
        var finished = untold.remove(kept.requestId());
        var generation = generations.remove(kept.requestId());
        if (finished == null || generation == null) {
            return;
        }
        if (!kept.blocks().isEmpty()) {
            generation.setKvTransferParams(Objects.requireNonNull(kvAddress).params(generation, finished, kept));
        }
        tell(finished, generation, true);
    }
}
