package understudy.cluster;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
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
import understudy.kvcache.connector.TransferJob;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/** Moves of chunks between a host's memory and the slower ones behind it. */
final class StoreMoves {
    private final List<KvStore> stores;
    private final ConnectedBlocks blocks;
    private final long idOffset;
    private final ActorRef<KvTier.Found> onFound;
    private final ActorRef<KvTier.StorePrepared> onPrepared;
    private final ActorRef<TransferEnded> onMoved;
    private final Long2ObjectOpenHashMap<Move> moves = new Long2ObjectOpenHashMap<>();

    /** Move under way; a chunk that was found stays in the store until it is over. */
    private static final class Move {
        final TransferJob job;
        int store;
        LongList found = LongList.of();
        LongList moved = LongList.of();

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
            ActorRef<TransferEnded> onMoved) {
        this.stores = stores;
        this.blocks = blocks;
        this.idOffset = idOffset;
        this.onMoved = onMoved;
        onFound = context.messageAdapter(KvTier.Found.class, KvTransfers.Found::new);
        onPrepared = context.messageAdapter(KvTier.StorePrepared.class, KvTransfers.StorePrepared::new);
    }

    void start(TransferJob job) {
        var move = new Move(job);
        moves.put(job.job(), move);
        if (job.kind() == TransferJob.Kind.CASCADE) {
            store(move).tier().tell(new KvTier.PrepareStore(job.job(), job.keys(), onPrepared));
        } else {
            store(move).tier().tell(new KvTier.Find(job.job(), job.keys(), onFound));
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
            store(move).tier().tell(new KvTier.Find(found.job(), move.job.keys(), onFound));
            return null;
        }
        move.found = found.keys();
        move.moved = new LongImmutableList(blocks.acceptPromotion(found.job(), found.keys()));
        if (!move.moved.isEmpty()) {
            transfer(move, KvStoreSpec.READ);
            return null;
        }
        return found.keys().isEmpty() ? remove(found.job()) : end(found.job(), false);
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
        if (move.job.kind() == TransferJob.Kind.CASCADE) {
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
