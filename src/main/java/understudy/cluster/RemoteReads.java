package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntLists;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.sidechannel.OutsideReads;
import understudy.cluster.sidechannel.SideChannel;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.connector.TransferJob;
import understudy.runtime.Clock;
import understudy.transfer.KvLease;
import understudy.transfer.KvLeases;
import understudy.transfer.TransferCounters;

/**
 * Reads of KV from other replicas, seen from both ends: those that hold the KV of requests here have to be told that it is
 * still wanted, or no longer; blocks here are kept for others as long as their lease lasts.
 */
final class RemoteReads {
    private final ActorContext<KvBlockManager.Command> context;
    private final Clock clock;
    private final KvLease lease;
    private final ConnectedBlocks blocks;
    private final ActorRef<? super KvBlockManager.KvArrived> replica;
    private final TransferCounters counters;
    private final KvLeases leases;
    private final Long2ObjectOpenHashMap<KvTransfers.Read> readsHere = new Long2ObjectOpenHashMap<>();
    private long leaseDueNanos = Long.MAX_VALUE;
    private final Long2ObjectLinkedOpenHashMap<ActorRef<Replica.Command>> holders =
            new Long2ObjectLinkedOpenHashMap<>();
    private final Long2LongOpenHashMap prefillNanos = new Long2LongOpenHashMap();
    private final OutsideReads outside;
    private boolean isBeating;

    RemoteReads(
            ActorContext<KvBlockManager.Command> context,
            KvBlockManager.Setup setup,
            KvLease lease,
            ConnectedBlocks blocks,
            TransferCounters counters) {
        this.context = context;
        clock = setup.clock();
        this.lease = lease;
        this.blocks = blocks;
        replica = setup.replica();
        this.counters = counters;
        leases = new KvLeases(lease);
        outside = new OutsideReads(
                setup.peers().sideChannel(),
                context.messageAdapter(SideChannel.Answer.class, KvTransfers.AnsweredOutside::new));
    }

    /** Handles a message about reads, of either end; returns whether it is one. */
    boolean on(KvTransfers.Command command) {
        if (command instanceof KvTransfers.Read read) {
            onRead(read);
        } else if (command instanceof KvTransfers.ReadEnded ended) {
            onReadEnded(ended.requestId());
        } else if (command instanceof KvTransfers.Heartbeat heartbeat) {
            onHeartbeat(heartbeat.requestIds());
        } else if (command == KvTransfers.Due.LEASE) {
            onLeaseDue();
        } else if (command instanceof KvTransfers.Expect expect) {
            expect(expect);
        } else if (command instanceof KvTransfers.AskedOutside asked) {
            onAskedOutside(asked.ask());
        } else if (command == KvTransfers.Due.HEARTBEAT) {
            onBeatDue();
        } else {
            return false;
        }
        return true;
    }

    /** A request has come whose KV another replica holds. */
    private void expect(KvTransfers.Expect expect) {
        var holder = expect.holder();
        if (holder != null) {
            holders.put(expect.requestId(), holder);
            prefillNanos.put(expect.requestId(), expect.prefillNanos());
            context.watch(holder);
        } else if (expect.remoteKv() != null) {
            outside.expect(expect.requestId(), expect.remoteKv());
        }
        beatLater();
    }

    /** Asks the other replica whether it still has what is to be read; returns whether that is known. */
    boolean begin(TransferJob job) {
        var holder = holders.get(job.requestId());
        if (holder != null) {
            holder.tell(new Replica.ForMemory(new KvTransfers.Read(job.requestId(), job.job(), context.getSelf())));
        }
        return holder != null || outside.look(job.requestId());
    }

    /** Tells the other replica that its blocks are not needed any more. */
    void end(long requestId) {
        outside.end(requestId);
        var holder = forget(requestId);
        if (holder != null) {
            holder.tell(new Replica.ForMemory(new KvTransfers.ReadEnded(requestId)));
        }
    }

    /** Returns what other processes hold. */
    OutsideReads outside() {
        return outside;
    }

    /** Returns how long it took to compute the prompt. */
    long prefillNanos(long requestId) {
        return prefillNanos.get(requestId);
    }

    /** Ends the interest in another replica's KV without a word to it; returns that replica, or null if there is none. */
    @Nullable ActorRef<Replica.Command> forget(long requestId) {
        outside.forget(requestId);
        prefillNanos.remove(requestId);
        return holders.remove(requestId);
    }

    /** Returns which reads from a replica that has died are lost, and forgets all that it held. */
    List<TransferJob> lost(ActorRef<?> holder, Collection<TransferJob> running) {
        var lost = new ArrayList<TransferJob>();
        for (var job : running) {
            if (job.kind() == TransferJob.Kind.READ && holder.equals(holders.get(job.requestId()))) {
                lost.add(job);
            }
        }
        holders.values().removeIf(holder::equals);
        return lost;
    }

    /** Renews all leases. */
    private void onBeatDue() {
        isBeating = false;
        var byHolder = new LinkedHashMap<ActorRef<Replica.Command>, LongArrayList>();
        holders.long2ObjectEntrySet()
                .forEach(entry -> byHolder.computeIfAbsent(entry.getValue(), any -> new LongArrayList())
                        .add(entry.getLongKey()));
        byHolder.forEach((holder, ids) ->
                holder.tell(new Replica.ForMemory(new KvTransfers.Heartbeat(new LongImmutableList(ids)))));
        outside.renew();
        beatLater();
    }

    private void beatLater() {
        if (!isBeating && lease.hasHeartbeats() && !areOver()) {
            isBeating = true;
            clock.tellAfter(lease.heartbeatNanos(), context.getSelf(), KvTransfers.Due.HEARTBEAT);
        }
    }

    /** Starts the leases of requests that have left blocks behind for others. */
    void onHeld() {
        for (long requestId : blocks.takeHeld()) {
            leases.begin(requestId, clock.nowNanos());
        }
        awaitLease();
    }

    /** Answers whether blocks are still here. */
    private void onRead(KvTransfers.Read read) {
        boolean isHeld = blocks.isHeld(read.requestId());
        if (isHeld) {
            readsHere.put(read.requestId(), read);
        }
        read.replyTo().tell(new KvTransfers.ReadAnswered(read.job(), isHeld));
    }

    /** Frees what another replica has read, or does not want. */
    private void onReadEnded(long requestId) {
        leases.end(requestId);
        readsHere.remove(requestId);
        free(LongList.of(requestId));
    }

    /** Answers another process with what is kept for it, and does what it says. */
    private void onAskedOutside(Cluster.AskKept ask) {
        long requestId = ask.requestId();
        boolean isHeld = blocks.isHeld(requestId);
        var kept = isHeld ? new IntImmutableList(blocks.blocksOf(requestId)) : IntLists.EMPTY_LIST;
        ask.replyTo().tell(new RequestEvent.Kept(requestId, kept));
        if (isHeld && ask.word() == SideChannel.Word.RENEW) {
            leases.renew(requestId, clock.nowNanos());
        } else if (isHeld && ask.word() == SideChannel.Word.DONE) {
            onReadEnded(requestId);
        }
    }

    private void onHeartbeat(LongList requestIds) {
        requestIds.forEach(id -> leases.renew(id, clock.nowNanos()));
    }

    private void onLeaseDue() {
        leaseDueNanos = Long.MAX_VALUE;
        var expired = leases.expired(clock.nowNanos());
        counters.addExpired(expired.size());
        expired.forEach(this::tellOutdated);
        free(expired);
        awaitLease();
    }

    private void tellOutdated(long requestId) {
        var read = readsHere.remove(requestId);
        if (read != null) {
            read.replyTo().tell(new KvTransfers.ReadOutdated(read.job()));
        }
    }

    /** Returns whether no other replica is expected to have anything. */
    boolean areOver() {
        return holders.isEmpty() && outside.isEmpty();
    }

    /** A lease that was renewed is looked at once more when it would have ended. */
    private void awaitLease() {
        long atNanos = leases.nextNanos();
        if (atNanos < leaseDueNanos) {
            leaseDueNanos = atNanos;
            clock.tellAfter(atNanos - clock.nowNanos(), context.getSelf(), KvTransfers.Due.LEASE);
        }
    }

    /** Blocks that other processes have read may be free long before the next step, which would tell of it. */
    private void tellState() {
        if (outside.areReachable()) {
            context.getSelf().tell(new KvBlockManager.TellState(clock.nowNanos()));
        }
    }

    private void free(LongList requestIds) {
        requestIds.forEach(blocks::release);
        if (!requestIds.isEmpty()) {
            replica.tell(new KvBlockManager.KvArrived(LongList.of(), null));
            tellState();
        }
    }
}
