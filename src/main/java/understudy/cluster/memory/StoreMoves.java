package understudy.cluster.memory;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.cluster.link.StoreAudits;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.connector.TransferJob;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/**
 * Moves of chunks between a host's memory, the slower ones behind it, and other replicas' hosts; and what is lent to those.
 */
final class StoreMoves {

    private static final long MAX_REPLICAS = 1L << 20;

    private final List<KvStore> stores;
    private final StoreAudits audits;
    private final ConnectedBlocks blocks;
    private final RemoteReads reads;
    private final int replicaIndex;
    private final @Nullable ActorRef<Link.Command> network;
    private final long chunkBytes;
    private final ActorRef<? super KvExchange.Lent> self;
    private final ActorRef<KvTier.Found> onFound;
    private final ActorRef<KvTier.StorePrepared> onPrepared;
    private final ActorRef<TransferEnded> onMoved;
    private final Long2ObjectOpenHashMap<Move> moves = new Long2ObjectOpenHashMap<>();
    private final Map<KvTier.Job, LongList> lent = new HashMap<>();

    /** Move under way; the chunks found for it stay where they are until it is over. */
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

    StoreMoves(
            ActorContext<KvBlockManager.Command> context,
            KvBlockManager.Setup setup,
            KvTransferSpec spec,
            ConnectedBlocks blocks,
            RemoteReads reads,
            ActorRef<TransferEnded> onMoved) {
        this.blocks = blocks;
        this.reads = reads;
        replicaIndex = setup.replicaIndex();
        network = setup.peers().network();
        chunkBytes = spec.chunkBytes();
        self = context.getSelf();
        onFound = context.messageAdapter(KvTier.Found.class, KvExchange.Found::new);
        onPrepared = context.messageAdapter(KvTier.StorePrepared.class, KvExchange.StorePrepared::new);
        this.onMoved = onMoved;
        stores = KvStore.startAll(
                context,
                setup.clock(),
                setup.spec().stores(),
                setup.peers().sharedStore(),
                () -> setup.peers().linkRandom("disk-link", replicaIndex));
        audits = new StoreAudits(
                stores, replicaIndex, context.messageAdapter(KvTier.Audited.class, KvExchange.StoreAudited::new));
    }

    /** Handles a message; returns the job that is over with it, or null if none is. */
    @Nullable TransferJob on(KvExchange.OfStores command) {
        if (command instanceof KvExchange.Lent answer) {
            var move = moves.get(answer.job());
            return move == null ? null : onLent(move, answer.keys());
        } else if (command instanceof KvExchange.Found found) {
            return onFound(found.found());
        } else if (command instanceof KvExchange.StorePrepared prepared) {
            return onPrepared(prepared.prepared());
        } else if (command instanceof KvExchange.Lend lend) {
            lend(lend);
        } else if (command instanceof KvExchange.TakeBack back) {
            blocks.connector().takeBack(Objects.requireNonNullElse(lent.remove(back.job()), LongList.of()));
        } else if (command instanceof KvExchange.StoreAudited audited) {
            audits.onAudited(audited.audited());
        }
        return null;
    }

    private void lend(KvExchange.Lend lend) {
        var keys = new LongImmutableList(blocks.connector().lend(lend.keys()));
        if (!keys.isEmpty()) {
            lent.put(lend.job(), keys);
        }
        lend.replyTo().tell(new KvExchange.Lent(lend.job().number(), keys));
    }

    /** Starts a move; returns the job if it is over, since there is neither a peer nor a store to ask. */
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
        var peer = move.job.remoteReplica() < 0 || network == null ? null : reads.forget(move.job.requestId());
        move.peer = peer;
        if (peer != null) {
            peer.tell(new Replica.ForMemory(new KvExchange.Lend(outside(move), move.job.keys(), self)));
        }
        return peer != null;
    }

    /** Handles another replica's answer with the chunks that it has; returns the job if it is over with that. */
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
        var ports = IntList.of(KvTransferSpec.portOut(remote), KvTransferSpec.portIn(replicaIndex));
        var transfer = new Transfer(
                KvTransfers.outside(replicaIndex, move.job.job()),
                ports,
                numChunks * chunkBytes,
                numChunks,
                remote * MAX_REPLICAS + replicaIndex);
        Objects.requireNonNull(network).tell(new Link.Start(transfer, onMoved));
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
        audits.begin(new LongImmutableList(moves.keySet()), whenDone);
    }

    /** Returns the states that the last audit has found. */
    Collection<TierState> states() {
        return audits.states();
    }

    private KvStore store(Move move) {
        return stores.get(move.store);
    }

    private Move known(long job) {
        return Objects.requireNonNull(moves.get(job), () -> "job " + job + " is not running");
    }

    /** A store has answered what it has; returns the job if it is over with that, since nothing is to be moved. */
    private @Nullable TransferJob onFound(KvTier.Found found) {
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

    /** Handles a store's answer with the chunks that it wants; returns the job if it is over with that. */
    private @Nullable TransferJob onPrepared(KvTier.StorePrepared prepared) {
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
                KvTransfers.outside(replicaIndex, move.job.job()),
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
            move.peer.tell(new Replica.ForMemory(new KvExchange.TakeBack(outside(move))));
        } else if (move.job.kind() == TransferJob.Kind.CASCADE) {
            store(move).tier().tell(new KvTier.EndStore(outside(move), isFailed));
        } else {
            store(move).tier().tell(new KvTier.EndLoad(outside(move)));
        }
    }

    /** Gives all moves up, whether their answers have come or not. */
    void giveUp() {
        for (var move : moves.values()) {
            var link = move.peer == null ? store(move).link() : Objects.requireNonNull(network);
            link.tell(new Link.Cancel(KvTransfers.outside(replicaIndex, move.job.job())));
            release(move, true);
        }
    }

    private KvTier.Job outside(Move move) {
        return new KvTier.Job(replicaIndex, move.job.job());
    }

    private TransferJob remove(long job) {
        return moves.remove(job).job;
    }
}
