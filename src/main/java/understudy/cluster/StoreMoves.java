package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TransferJob;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/** Moves of chunks between a host's memory and the slower ones behind it. */
final class StoreMoves {
    private static final long MAX_REPLICAS = 1L << 20;

    private final List<KvStore> stores;
    private final ConnectedBlocks blocks;
    private final long idOffset;
    private final ActorRef<KvTier.Found> onFound;
    private final ActorRef<KvTier.StorePrepared> onPrepared;
    private final ActorRef<KvTier.Audited> onAudited;
    private final List<Runnable> whenAudited = new ArrayList<>();
    private int numAuditsAwaited;
    private final ActorRef<TransferEnded> onMoved;
    private final ActorRef<? super KvTransfers.Lent> self;
    private final Peers peers;
    private final Long2ObjectOpenHashMap<Move> moves = new Long2ObjectOpenHashMap<>();

    /**
     * Way to the hosts of other replicas.
     *
     * @param replicaIndex of this replica
     */
    record Peers(RemoteReads reads, @Nullable ActorRef<Link.Command> network, long chunkBytes, int replicaIndex) {}

    /** Move under way; a chunk that was found stays in the store until it is over. */
    private static final class Move {
        final TransferJob job;
        int store;
        LongList found = LongList.of();
        LongList moved = LongList.of();

        /** The other replica, while it is asked, or read from. */
        @Nullable ActorRef<Replica.Command> peer;

        boolean isAsked;

        Move(TransferJob job) {
            this.job = job;
            store = job.kind() == TransferJob.Kind.CASCADE ? job.store() : 0;
        }
    }

    /**
     * @param stores the fastest first
     * @param idOffset what sets this replica's transfers apart from others'
     */
    StoreMoves(
            ActorContext<KvBlockManager.Command> context,
            List<KvStore> stores,
            ConnectedBlocks blocks,
            long idOffset,
            Peers peers,
            ActorRef<TransferEnded> onMoved) {
        this.stores = stores;
        this.blocks = blocks;
        this.idOffset = idOffset;
        this.onMoved = onMoved;
        this.peers = peers;
        self = context.getSelf();
        onFound = context.messageAdapter(KvTier.Found.class, KvTransfers.Found::new);
        onPrepared = context.messageAdapter(KvTier.StorePrepared.class, KvTransfers.StorePrepared::new);
        onAudited = context.messageAdapter(KvTier.Audited.class, KvTransfers.StoreAudited::new);
    }

    /** Starts a move; returns the job if it is over, since there is nobody to ask. */
    @Nullable TransferJob start(TransferJob job) {
        var move = new Move(job);
        moves.put(job.job(), move);
        if (job.kind() == TransferJob.Kind.CASCADE) {
            store(move).tier().tell(new KvTier.PrepareStore(job.job(), job.keys(), onPrepared));
        } else if (askPeer(move)) {
            move.isAsked = true;
        } else if (stores.isEmpty()) {
            return remove(job.job());
        } else {
            findInStore(move);
        }
        return null;
    }

    private void findInStore(Move move) {
        store(move).tier().tell(new KvTier.Find(move.job.job(), move.job.keys(), onFound));
    }

    private boolean askPeer(Move move) {
        var peer =
                move.job.remoteReplica() < 0 || peers.network == null ? null : peers.reads.forget(move.job.requestId());
        move.peer = peer;
        if (peer != null) {
            peer.tell(new Replica.ForMemory(new KvTransfers.Lend(move.job.job(), move.job.keys(), self)));
        }
        return peer != null;
    }

    /** Another replica has answered what it has; returns the job if it is over with that. */
    @Nullable TransferJob onLent(KvTransfers.Lent lent) {
        var move = moves.get(lent.job());
        return move == null ? null : onLent(move, lent.keys());
    }

    private @Nullable TransferJob onLent(Move move, LongList keys) {
        move.isAsked = false;
        move.found = keys;
        if (keys.isEmpty()) {
            move.peer = null;
            if (stores.isEmpty()) {
                return remove(move.job.job());
            }
            findInStore(move);
            return null;
        }
        move.moved = new LongImmutableList(blocks.connector().acceptPromotion(move.job.job(), keys, KvSource.PEER));
        if (move.moved.isEmpty()) {
            return end(move.job.job(), false);
        }
        fetch(move);
        return null;
    }

    private void fetch(Move move) {
        int remote = move.job.remoteReplica();
        int numChunks = move.moved.size();
        var ports = IntList.of(KvTransferSpec.portOut(remote), KvTransferSpec.portIn(peers.replicaIndex));
        var transfer = new Transfer(
                idOffset + move.job.job(),
                ports,
                numChunks * peers.chunkBytes,
                numChunks,
                remote * MAX_REPLICAS + peers.replicaIndex);
        Objects.requireNonNull(peers.network).tell(new Link.Start(transfer, onMoved));
    }

    /** Another replica has died; returns the jobs that are over with that. */
    List<TransferJob> onPeerGone(ActorRef<?> peer) {
        var asked = moves.values().stream()
                .filter(move -> move.isAsked && peer.equals(move.peer))
                .toList();
        return asked.stream()
                .map(move -> onLent(move, LongList.of()))
                .filter(Objects::nonNull)
                .toList();
    }

    /** Recounts all stores, and runs {@code whenDone} if they are sound. */
    void audit(Runnable whenDone) {
        if (stores.isEmpty()) {
            whenDone.run();
            return;
        }
        whenAudited.add(whenDone);
        numAuditsAwaited += stores.size();
        stores.forEach(store -> store.tier().tell(new KvTier.Audit(onAudited)));
    }

    void onAudited(KvTier.Audited audited) {
        if (!audited.audit().isConserved()) {
            throw new IllegalStateException("block conservation: a store has " + audited.audit());
        }
        if (--numAuditsAwaited == 0) {
            whenAudited.forEach(Runnable::run);
            whenAudited.clear();
        }
    }

    private KvStore store(Move move) {
        return stores.get(move.store);
    }

    private Move known(long job) {
        return Objects.requireNonNull(moves.get(job), () -> "job " + job + " is not running");
    }

    /** A store has answered what it has; returns the job if it is over with that, since nothing is to be moved. */
    @Nullable TransferJob onFound(KvTier.Found found) {
        var move = known(found.job());
        if (found.keys().isEmpty() && ++move.store < stores.size()) {
            findInStore(move);
            return null;
        }
        if (found.keys().isEmpty()) {
            return remove(found.job());
        }
        move.found = found.keys();
        var source = store(move).spec().isShared() ? KvSource.STORE : KvSource.DISK;
        move.moved = new LongImmutableList(blocks.connector().acceptPromotion(found.job(), found.keys(), source));
        if (!move.moved.isEmpty()) {
            transfer(move, KvStoreSpec.READ);
            return null;
        }
        return end(found.job(), false);
    }

    /** A store has answered what it wants; returns the job if it is over with that. */
    @Nullable TransferJob onPrepared(KvTier.StorePrepared prepared) {
        var move = known(prepared.job());
        move.moved = prepared.keys();
        if (move.moved.isEmpty()) {
            return remove(prepared.job());
        }
        transfer(move, KvStoreSpec.WRITE);
        return null;
    }

    private void transfer(Move move, int port) {
        var store = store(move);
        int numChunks = move.moved.size();
        var transfer = new Transfer(
                idOffset + move.job.job(),
                IntList.of(port),
                numChunks * store.spec().bytesPerChunk(),
                numChunks,
                0);
        store.link().tell(new Link.Start(transfer, onMoved));
    }

    /** Ends a move, and returns its job. */
    TransferJob end(long job, boolean isFailed) {
        var move = known(job);
        if (move.peer != null) {
            move.peer.tell(new Replica.ForMemory(new KvTransfers.TakeBack(move.found)));
        } else if (move.job.kind() == TransferJob.Kind.CASCADE) {
            store(move).tier().tell(new KvTier.EndStore(move.moved, isFailed));
        } else {
            store(move).tier().tell(new KvTier.EndLoad(move.found));
        }
        return remove(job);
    }

    private TransferJob remove(long job) {
        return moves.remove(job).job;
    }
}
