package understudy.cluster.memory;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.link.Link;
import understudy.cluster.sidechannel.OutsideReads;
import understudy.cluster.sidechannel.SideChannel;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.TransferJob;
import understudy.runtime.Clock;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferCounters;
import understudy.transfer.TransferEnded;

/**
 * Reads of KV from other replicas, of this cluster and of other processes: those that hold the KV of requests here have to
 * be told that it is still wanted, or no longer.
 */
final class RemoteReads {

    private final ActorContext<KvBlockManager.Command> context;
    private final Clock clock;
    private final KvTransferSpec spec;
    private final int replicaIndex;
    private final @Nullable ActorRef<Link.Command> network;
    private final TransferCounters counters;
    private final ActorRef<TransferEnded> onEnded;
    private final Consumer<TransferJob> whenLost;
    private final OutsideReads outside;
    private final Long2ObjectLinkedOpenHashMap<ActorRef<Replica.Command>> holders =
            new Long2ObjectLinkedOpenHashMap<>();
    private final Long2LongOpenHashMap prefillNanos = new Long2LongOpenHashMap();
    private final Long2ObjectLinkedOpenHashMap<TransferJob> running = new Long2ObjectLinkedOpenHashMap<>();
    private boolean isBeating;

    /**
     * @param onEnded is told by the network when a read has ended
     * @param whenLost ends a job that has failed, or was given up
     */
    RemoteReads(
            ActorContext<KvBlockManager.Command> context,
            KvBlockManager.Setup setup,
            KvTransferSpec spec,
            TransferCounters counters,
            ActorRef<TransferEnded> onEnded,
            Consumer<TransferJob> whenLost) {
        this.context = context;
        clock = setup.clock();
        this.spec = spec;
        replicaIndex = setup.replicaIndex();
        network = setup.peers().network();
        this.counters = counters;
        this.onEnded = onEnded;
        this.whenLost = whenLost;
        outside = new OutsideReads(
                setup.peers().sideChannel(),
                context.messageAdapter(SideChannel.Answer.class, KvExchange.AnsweredOutside::new));
    }

    void on(KvExchange.OfReads command) {
        if (command instanceof KvExchange.Expect expect) {
            onExpect(expect);
        } else if (command instanceof KvExchange.Unserved unserved) {
            onUnserved(unserved.requestId());
        } else if (command instanceof KvExchange.ReadAnswered answered) {
            onReadAnswered(answered.job(), answered.isHeld());
        } else if (command instanceof KvExchange.ReadOutdated outdated) {
            onReadOutdated(outdated.job());
        } else if (command instanceof KvExchange.AnsweredOutside answered) {
            onAnsweredOutside(answered.answer());
        } else if (command instanceof KvExchange.HeartbeatDue) {
            onHeartbeatDue();
        }
    }

    private void onExpect(KvExchange.Expect expect) {
        if (expect.holder() != null) {
            holders.put(expect.requestId(), expect.holder());
            prefillNanos.put(expect.requestId(), expect.prefillNanos());
            context.watch(expect.holder());
        } else if (expect.remoteKv() != null) {
            outside.expect(expect.requestId(), expect.remoteKv());
        }
        beatLater();
    }

    void onUnserved(long requestId) {
        if (spec.notifiesOnReject()) {
            end(requestId);
        } else {
            forget(requestId);
        }
    }

    /** Asks the other replica whether it still has the blocks to read; the job is lost if there is none. */
    void begin(TransferJob job) {
        running.put(job.job(), job);
        var holder = holders.get(job.requestId());
        if (holder != null) {
            holder.tell(new Replica.ForMemory(new KvExchange.Read(job.requestId(), job.job(), context.getSelf())));
        } else if (!outside.look(job.requestId())) {
            lose(job);
        }
    }

    /** The other replica has answered whether it still holds the blocks to read. */
    private void onReadAnswered(long jobNumber, boolean isHeld) {
        var job = running.get(jobNumber);
        if (job != null && (isHeld || !isLostAsStale(job))) {
            network().tell(new Link.Start(transfer(job), onEnded));
        }
    }

    private Transfer transfer(TransferJob job) {
        int numBlocks = job.gpuBlocks().size();
        boolean isOutside = job.remoteReplica() == KvTransferParams.OUTSIDE;
        int portIn = KvTransferSpec.portIn(replicaIndex);
        return new Transfer(
                KvTransfers.outside(replicaIndex, job.job()),
                // The way out of another process is none of this network.
                isOutside ? IntList.of(portIn) : IntList.of(KvTransferSpec.portOut(job.remoteReplica()), portIn),
                spec.exposedBytes(numBlocks, prefillNanos.get(job.requestId())),
                numBlocks * spec.descriptorsPerBlock(),
                isOutside
                        ? outside.pairOf(job.requestId(), replicaIndex)
                        : job.remoteReplica() * KvTransfers.JOBS_PER_REPLICA + replicaIndex);
    }

    /** Handles an answer of the other process; one about a read that is over by now is ignored. */
    private void onAnsweredOutside(SideChannel.Answer answer) {
        outside.onAnswered(answer);
        var read = running.values().stream()
                .filter(job -> job.requestId() == answer.requestId())
                .findFirst();
        if (read.isEmpty() || answer.word() == SideChannel.Word.DONE) {
            return;
        }
        if (answer.state() == SideChannel.State.UNREACHABLE) {
            lose(read.get());
        } else if (answer.word() == SideChannel.Word.LOOK) {
            onReadAnswered(read.get().job(), answer.state() == SideChannel.State.KEPT);
        } else if (answer.state() == SideChannel.State.GIVEN_UP) {
            onReadOutdated(read.get().job());
        }
    }

    /** The other replica has given the blocks up while they were being read. */
    private void onReadOutdated(long jobNumber) {
        var job = running.get(jobNumber);
        if (job != null) {
            isLostAsStale(job);
        }
    }

    /** Returns whether a read fails of blocks that are not there any more. */
    private boolean isLostAsStale(TransferJob job) {
        if (spec.failsStaleReads()) {
            lose(job);
        } else {
            counters.addStale();
        }
        return spec.failsStaleReads();
    }

    /** Ends a read before its time. */
    private void lose(TransferJob job) {
        network().tell(new Link.Cancel(KvTransfers.outside(replicaIndex, job.job())));
        counters.reads().addFailed();
        onRead(job);
        whenLost.accept(job);
    }

    /** The network has read, or has failed to. */
    void onRead(TransferJob job) {
        running.remove(job.job());
        end(job.requestId());
    }

    /** Tells the other replica that its blocks are not needed any more. */
    void end(long requestId) {
        outside.end(requestId);
        var holder = forget(requestId);
        if (holder != null) {
            holder.tell(new Replica.ForMemory(new KvExchange.ReadEnded(requestId)));
        }
    }

    /** Ends the interest in another replica's KV without a word to it; returns that replica, or null if there is none. */
    @Nullable ActorRef<Replica.Command> forget(long requestId) {
        outside.forget(requestId);
        prefillNanos.remove(requestId);
        return holders.remove(requestId);
    }

    /** A replica has died: all reads from it are lost, and what else it held is forgotten. */
    void onHolderGone(ActorRef<?> holder) {
        var lost = running.values().stream()
                .filter(job -> holder.equals(holders.get(job.requestId())))
                .toList();
        holders.values().removeIf(holder::equals);
        lost.forEach(this::lose);
    }

    /** Gives all reads up. */
    void giveUp() {
        running.keySet().forEach(job -> network().tell(new Link.Cancel(KvTransfers.outside(replicaIndex, job))));
    }

    /** Returns whether no other replica is expected to have anything. */
    boolean isEmpty() {
        return holders.isEmpty() && outside.isEmpty();
    }

    /** Renews all leases. */
    private void onHeartbeatDue() {
        isBeating = false;
        var byHolder = new LinkedHashMap<ActorRef<Replica.Command>, LongArrayList>();
        holders.long2ObjectEntrySet()
                .forEach(entry -> byHolder.computeIfAbsent(entry.getValue(), any -> new LongArrayList())
                        .add(entry.getLongKey()));
        byHolder.forEach((holder, ids) ->
                holder.tell(new Replica.ForMemory(new KvExchange.Heartbeat(new LongImmutableList(ids)))));
        outside.renew();
        beatLater();
    }

    private void beatLater() {
        if (!isBeating && spec.lease().hasHeartbeats() && !isEmpty()) {
            isBeating = true;
            clock.tellAfter(spec.lease().heartbeatNanos(), context.getSelf(), KvExchange.HeartbeatDue.NOW);
        }
    }

    private ActorRef<Link.Command> network() {
        return Objects.requireNonNull(network);
    }
}
