package understudy.cluster.memory;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntLists;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.Cluster;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.sidechannel.SideChannel;
import understudy.kvcache.ConnectedBlocks;
import understudy.runtime.Clock;
import understudy.transfer.KvLease;
import understudy.transfer.KvLeases;
import understudy.transfer.TransferCounters;

/** Blocks of requests that have ended here, kept for the replicas that read them as long as their lease lasts. */
final class KeptBlocks {

    private final Clock clock;
    private final ActorRef<KvBlockManager.Command> self;
    private final ConnectedBlocks blocks;
    private final ActorRef<? super KvBlockManager.KvArrived> replica;
    private final TransferCounters counters;
    private final KvLeases leases;
    private final boolean areReadOutside;
    private final Long2ObjectOpenHashMap<KvExchange.Read> reads = new Long2ObjectOpenHashMap<>();
    private long leaseDueNanos = Long.MAX_VALUE;

    KeptBlocks(
            ActorRef<KvBlockManager.Command> self,
            KvBlockManager.Setup setup,
            KvLease lease,
            ConnectedBlocks blocks,
            TransferCounters counters) {
        this.self = self;
        clock = setup.clock();
        this.blocks = blocks;
        replica = setup.replica();
        this.counters = counters;
        leases = new KvLeases(lease);
        areReadOutside = setup.peers().sideChannel() != null;
    }

    void on(KvExchange.OfKept command) {
        if (command instanceof KvExchange.Read read) {
            onRead(read);
        } else if (command instanceof KvExchange.ReadEnded ended) {
            onReadEnded(ended.requestId());
        } else if (command instanceof KvExchange.Heartbeat heartbeat) {
            heartbeat.requestIds().forEach(id -> leases.renew(id, clock.nowNanos()));
        } else if (command instanceof KvExchange.LeaseDue) {
            onLeaseDue();
        } else if (command instanceof KvExchange.AskedOutside asked) {
            onAskedOutside(asked.ask());
        }
    }

    /** Starts the leases of requests that have left blocks behind for others. */
    void onHeld() {
        for (long requestId : blocks.takeHeld()) {
            leases.begin(requestId, clock.nowNanos());
        }
        awaitLease();
    }

    private void onRead(KvExchange.Read read) {
        boolean isHeld = blocks.isHeld(read.requestId());
        if (isHeld) {
            reads.put(read.requestId(), read);
        }
        read.replyTo().tell(new KvExchange.ReadAnswered(read.job(), isHeld));
    }

    /** Frees the blocks that another replica has read, or does not want. */
    private void onReadEnded(long requestId) {
        leases.end(requestId);
        reads.remove(requestId);
        free(LongList.of(requestId));
    }

    /** Answers another process with the blocks kept for it, and carries out its word. */
    private void onAskedOutside(Cluster.AskKept ask) {
        long requestId = ask.requestId();
        boolean isHeld = blocks.isHeld(requestId);
        var kept = isHeld ? new IntImmutableList(blocks.blocksOf(requestId)) : IntLists.EMPTY_LIST;
        ask.replyTo().tell(new Cluster.Kept(requestId, kept));
        if (isHeld && ask.word() == SideChannel.Word.RENEW) {
            leases.renew(requestId, clock.nowNanos());
        } else if (isHeld && ask.word() == SideChannel.Word.DONE) {
            onReadEnded(requestId);
        }
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
        var read = reads.remove(requestId);
        if (read != null) {
            read.replyTo().tell(new KvExchange.ReadOutdated(read.job()));
        }
    }

    /** A lease that was renewed is looked at once more when it would have ended. */
    private void awaitLease() {
        long atNanos = leases.nextNanos();
        if (atNanos < leaseDueNanos) {
            leaseDueNanos = atNanos;
            clock.tellAfter(atNanos - clock.nowNanos(), self, KvExchange.LeaseDue.NOW);
        }
    }

    /** Blocks that other processes have read may be free long before the next step, which would tell of it. */
    private void free(LongList requestIds) {
        requestIds.forEach(blocks::release);
        if (requestIds.isEmpty()) {
            return;
        }
        replica.tell(new KvBlockManager.KvArrived(LongList.of(), null));
        if (areReadOutside) {
            self.tell(new KvBlockManager.TellState(clock.nowNanos()));
        }
    }
}
