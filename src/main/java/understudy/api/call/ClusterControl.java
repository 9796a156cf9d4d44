package understudy.api.call;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import understudy.cluster.Cluster;
import understudy.cluster.Router;
import understudy.faults.ClusterChange;
import understudy.faults.ReplicaOrder;
import understudy.faults.ReplicaState;
import understudy.host.ClusterHost;
import understudy.host.Reply;
import understudy.runtime.VirtualTime;

/** Control of the emulated cluster: its time, its replicas' states, changes of it, and orders to replicas. */
public final class ClusterControl {
    private final VirtualTime<Cluster.Command> time;
    private final ActorSystem<?> system;
    private final ActorRef<Router.Command> router;
    private final int numReplicas;

    /**
     * Creates a control.
     *
     * @param system in which answers are received
     * @param router to which orders go, so that they do not overtake requests
     * @param numReplicas how many the cluster starts with
     */
    public ClusterControl(ClusterHost host, ActorSystem<?> system, ActorRef<Router.Command> router, int numReplicas) {
        time = host.time();
        this.system = system;
        this.router = router;
        this.numReplicas = numReplicas;
    }

    /** Returns the emulation's clock and actor system. */
    public VirtualTime<Cluster.Command> time() {
        return time;
    }

    /** Returns how many replicas the cluster started with. */
    public int numReplicas() {
        return numReplicas;
    }

    /** Has all replicas forget their cached content, and tells whether all of them have. */
    public CompletionStage<Boolean> resetPrefixCache(boolean resetsRunning) {
        var order = new ReplicaOrder.ResetPrefixCache(resetsRunning);
        return Reply.ask(system, router, Router.AllDone.class, ref -> new Router.Order(OptionalInt.empty(), order, ref))
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

    /** Changes the cluster after a while in virtual time, unless that is impossible then. */
    public void changeLater(Duration delay, ClusterChange change) {
        time.system().tell(new Cluster.InjectLater(delay, change));
    }

    /** Returns the virtual time, and the state of each replica. */
    public CompletionStage<Cluster.Status> status() {
        return Reply.ask(system, time.system(), Cluster.Status.class, Cluster.GetStatus::new);
    }

    /** Returns the state of each replica, by index. */
    public CompletionStage<List<ReplicaState>> states() {
        return status().thenApply(Cluster.Status::replicas);
    }
}
