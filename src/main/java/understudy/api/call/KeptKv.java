package understudy.api.call;

import it.unimi.dsi.fastutil.ints.IntLists;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorSystem;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.RequestEvent;
import understudy.cluster.sidechannel.SideChannel;
import understudy.engine.FinishReason;
import understudy.host.ClusterHost;
import understudy.host.Reply;
import understudy.runtime.VirtualTime;

/** KV that replicas keep for other processes: what is kept of a request is asked before the request's end is told. */
public final class KeptKv {
    private final ActorSystem<?> system;
    private final VirtualTime<Cluster.Command> time;

    /** Requests whose end waits; of one thread. */
    private final Set<Long> held = new HashSet<>();

    private volatile @Nullable KvAddress address;

    /**
     * Creates it without an address: nothing is asked.
     *
     * @param system in which answers are received
     */
    public KeptKv(ClusterHost host, ActorSystem<?> system) {
        time = host.time();
        this.system = system;
    }

    /** Sets where other processes ask for it. */
    public void setAddress(KvAddress address) {
        this.address = address;
    }

    /** Returns where other processes ask for it; empty if none do. */
    public Optional<KvAddress> address() {
        return Optional.ofNullable(address);
    }

    /** Sends a word about the KV that a replica keeps of a request, and returns the state of that KV. */
    public CompletionStage<Cluster.Kept> ask(int replica, SideChannel.Word word, long requestId) {
        return Reply.ask(
                system,
                Cluster.Kept.class,
                ref -> time.post(() -> time.system().tell(new Cluster.AskKept(replica, word, requestId, ref))));
    }

    /**
     * Returns whether an end is to wait until it is known what is kept of its request; it is sent again then, and waits
     * no more. Called on one thread at a time.
     */
    boolean holdsBack(RequestEvent.Finished finished, Generation generation, Consumer<RequestEvent> again) {
        if (address == null || !generation.spec().isToKeep() || finished.reason() == FinishReason.ABORT) {
            return false; // an answer that was aborted leaves nothing behind
        }
        long id = finished.requestId();
        if (held.remove(id)) {
            return false;
        }
        held.add(id);
        ask(finished.timing().replicaIndex(), SideChannel.Word.LOOK, id)
                .exceptionally(noAnswer -> new Cluster.Kept(id, IntLists.EMPTY_LIST))
                .thenAccept(kept -> {
                    if (!kept.blocks().isEmpty()) {
                        var own = Objects.requireNonNull(address);
                        generation.setKvTransferParams(own.params(generation, finished, kept));
                    }
                    again.accept(finished);
                });
        return true;
    }
}
