package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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
import understudy.kvcache.connector.TierState;
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
    private final Map<KvSource, TierState> states = new EnumMap<>(KvSource.class);
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

    /** Move under way; what was found for it stays where it is until it is over. */
    private static final class Move {
        final TransferJob job;
        int store;

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
            store(move).tier().tell(new KvTier.PrepareStore(outside(move), job.keys(), onPrepared));
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
        store(move).tier().tell(new KvTier.Find(outside(move), move.job.keys(), onFound));
    }

    private boolean askPeer(Move move) {
        var peer =
                move.job.remoteReplica() < 0 || peers.network == null ? null : peers.reads.forget(move.job.requestId());
        move.peer = peer;
        if (peer != null) {
            peer.tell(new Replica.ForMemory(new KvTransfers.Lend(outside(move), move.job.keys(), self)));
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
        if (keys.isEmpty()) {
            move.peer = null;
            if (stores.isEmpty()) {
                return remove(move.job.job());
            }
            findInStore(move);
            return null;
        }
        int numChunks = numAccepted(move, keys, KvSource.PEER);
        if (numChunks == 0) {
            return end(move.job.job(), false);
        }
        fetch(move, numChunks);
        return null;
    }

    private int numAccepted(Move move, LongList keys, KvSource source) {
        return blocks.connector().acceptPromotion(move.job.job(), keys, source).size();
    }

    private void fetch(Move move, int numChunks) {
        int remote = move.job.remoteReplica();
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
        var jobs = new LongImmutableList(moves.keySet());
        stores.forEach(store -> store.tier().tell(new KvTier.Audit(peers.replicaIndex, jobs, onAudited)));
    }

    void onAudited(KvTier.Audited audited) {
        states.put(audited.state().tier(), audited.state());
        if (--numAuditsAwaited == 0) {
            whenAudited.forEach(Runnable::run);
            whenAudited.clear();
        }
    }

    /** Returns what the last audit has found. */
    Collection<TierState> states() {
        return states.values();
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
        int numChunks = numAccepted(move, found.keys(), store(move).spec().source());
        if (numChunks > 0) {
            transfer(move, KvStoreSpec.READ, numChunks);
            return null;
        }
        return end(found.job(), false);
    }

    /** A store has answered what it wants; returns the job if it is over with that. */
    @Nullable TransferJob onPrepared(KvTier.StorePrepared prepared) {
        var move = known(prepared.job());
        if (prepared.keys().isEmpty()) {
            return remove(prepared.job());
        }
        transfer(move, KvStoreSpec.WRITE, prepared.keys().size());
        return null;
    }

    private void transfer(Move move, int port, int numChunks) {
        var store = store(move);
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
        release(known(job), isFailed);
        return remove(job);
    }

    private void release(Move move, boolean isFailed) {
        if (move.peer != null) {
            move.peer.tell(new Replica.ForMemory(new KvTransfers.TakeBack(outside(move))));
        } else if (move.job.kind() == TransferJob.Kind.CASCADE) {
            store(move).tier().tell(new KvTier.EndStore(outside(move), isFailed));
        } else {
            store(move).tier().tell(new KvTier.EndLoad(outside(move)));
        }
    }

    /** Gives all moves up, whether their answers have come or not. */
    void giveUp() {
        for (var move : moves.values()) {
            var link = move.peer == null ? store(move).link() : Objects.requireNonNull(peers.network);
            link.tell(new Link.Cancel(idOffset + move.job.job()));
            release(move, true);
        }
    }

    private KvTier.Job outside(Move move) {
        return new KvTier.Job(peers.replicaIndex, move.job.job());
    }

    private TransferJob remove(long job) {
        return moves.remove(job).job;
    }
}
