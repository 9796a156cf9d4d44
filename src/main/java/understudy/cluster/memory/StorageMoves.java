package understudy.cluster.memory;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.cluster.link.StoreAudits;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.StoredPages;
import understudy.kvcache.connector.StorageWord;
import understudy.kvcache.connector.TransferJob;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.TransferRecorder;
import understudy.runtime.Clock;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/**
 * Moves between the host of a memory and the storage behind it. The memory says by {@link StorageWord}s what is to be done,
 * and is told of each answer of the storage and of its link.
 */
final class StorageMoves implements KvMoves {
    private final Clock clock;
    private final ActorRef<? super KvBlockManager.KvArrived> replica;
    private final KvCache kvCache;
    private final int replicaIndex;
    private final KvStore store;
    private final StoreAudits audits;
    private final ActorRef<KvTier.Found> onFound;
    private final ActorRef<KvTier.StorePrepared> onPrepared;
    private final ActorRef<TransferEnded> onEnded;
    private final TransferRecorder recorder;
    private final ClusterEvent.@Nullable Subscriber subscriber;

    /** Jobs of which the storage knows. */
    private final LongLinkedOpenHashSet reads = new LongLinkedOpenHashSet();

    private final LongLinkedOpenHashSet writes = new LongLinkedOpenHashSet();

    /** Jobs whose pages are on the link. */
    private final Long2ObjectOpenHashMap<StorageWord.Move> moving = new Long2ObjectOpenHashMap<>();

    private final Long2ObjectOpenHashMap<Cancellable> looks = new Long2ObjectOpenHashMap<>();

    StorageMoves(ActorContext<KvBlockManager.Command> context, KvCache kvCache, KvBlockManager.Setup setup) {
        clock = setup.clock();
        replica = setup.replica();
        this.kvCache = kvCache;
        replicaIndex = setup.replicaIndex();
        var stores = KvStore.startAll(
                context,
                clock,
                setup.spec().stores(),
                setup.peers().sharedStore(),
                () -> setup.peers().linkRandom("disk-link", replicaIndex));
        store = stores.get(0);
        audits = new StoreAudits(
                stores, replicaIndex, context.messageAdapter(KvTier.Audited.class, KvExchange.StoreAudited::new));
        onFound = context.messageAdapter(KvTier.Found.class, KvExchange.Found::new);
        onPrepared = context.messageAdapter(KvTier.StorePrepared.class, KvExchange.StorePrepared::new);
        onEnded = context.messageAdapter(TransferEnded.class, KvExchange.Moved::new);
        subscriber = setup.peers().subscriber();
        recorder = new TransferRecorder(1, setup.peers().keepsRecords(), subscriber != null);
    }

    @Override
    public void on(KvExchange.Command command) {
        if (command instanceof KvExchange.Found found) {
            stored().onFound(found.found().job(), found.found().keys().size());
        } else if (command instanceof KvExchange.StorePrepared prepared) {
            onPrepared(prepared.prepared());
        } else if (command instanceof KvExchange.Moved moved) {
            onMoved(moved.ended());
        } else if (command instanceof KvExchange.StoreAudited audited) {
            audits.onAudited(audited.audited());
        }
        onAsked();
    }

    private StoredPages stored() {
        return Objects.requireNonNull(kvCache.stored());
    }

    private void onPrepared(KvTier.StorePrepared prepared) {
        if (prepared.keys().isEmpty()) {
            writes.remove(prepared.job());
        }
        stored().onPrepared(prepared.job(), prepared.keys().size());
    }

    private void onMoved(TransferEnded ended) {
        var move = moving.remove(ended.id() % KvTransfers.JOBS_PER_REPLICA);
        var kind = move.isRead() ? TransferJob.Kind.PROMOTE : TransferJob.Kind.CASCADE;
        var job = TransferJob.ofChunks(move.job(), kind, move.requestId(), LongList.of(), 0, -1);
        recorder.add(job, ended);
        if (subscriber != null) {
            subscriber.tell(ClusterEvent.KvMoved.of(replicaIndex, job, ended));
        }
        stored().onMoved(move.job(), ended.isFailed());
    }

    /** Carries out what the memory has said. */
    @Override
    public void onAsked() {
        stored().takeWords().forEach(this::carryOut);
    }

    private void carryOut(StorageWord word) {
        if (word instanceof StorageWord.Find find) {
            reads.add(find.job());
            store.tier().tell(new KvTier.Find(outside(find.job()), find.keys(), onFound));
        } else if (word instanceof StorageWord.Prepare prepare) {
            writes.add(prepare.job());
            store.tier().tell(new KvTier.PrepareStore(outside(prepare.job()), prepare.keys(), onPrepared));
        } else if (word instanceof StorageWord.Move move) {
            moving.put(move.job(), move);
            start(move);
        } else if (word instanceof StorageWord.End end) {
            (end.isRead() ? reads : writes).remove(end.job());
            end(end.job(), end.isRead(), end.isFailed());
        } else if (word instanceof StorageWord.Look) {
            replica.tell(look());
        } else if (word instanceof StorageWord.LookAt at) {
            cancelLook(at.job());
            looks.put(at.job(), clock.tellAfter(Math.max(0, at.atNanos() - clock.nowNanos()), replica, look()));
        }
    }

    private static KvBlockManager.KvArrived look() {
        return new KvBlockManager.KvArrived(LongList.of(), null);
    }

    private void start(StorageWord.Move move) {
        store.link()
                .tell(new Link.Start(
                        new Transfer(
                                KvTransfers.outside(replicaIndex, move.job()),
                                IntList.of(move.isRead() ? KvStoreSpec.READ : KvStoreSpec.WRITE),
                                move.numPages() * store.spec().bytesPerChunk(),
                                move.numPages(),
                                0),
                        onEnded));
    }

    private void end(long job, boolean isRead, boolean isFailed) {
        cancelLook(job);
        store.tier().tell(isRead ? new KvTier.EndLoad(outside(job)) : new KvTier.EndStore(outside(job), isFailed));
    }

    private void cancelLook(long job) {
        var look = looks.remove(job);
        if (look != null) {
            look.cancel();
        }
    }

    private KvTier.Job outside(long job) {
        return new KvTier.Job(replicaIndex, job);
    }

    /** The memory reads from no other replica. */
    @Override
    public void onHolderGone(ActorRef<?> replica) {}

    @Override
    public void audit(Runnable whenDone) {
        var jobs = new LongArrayList(reads);
        jobs.addAll(writes);
        audits.begin(jobs, whenDone);
    }

    @Override
    public KvTraffic taken(PrefixCacheStats external) {
        return recorder.taken(external, List.of());
    }

    @Override
    public KvTraffic all(PrefixCacheStats external) {
        return recorder.all(external, List.copyOf(audits.states()));
    }

    @Override
    public void stop() {
        moving.keySet().forEach(job -> store.link().tell(new Link.Cancel(KvTransfers.outside(replicaIndex, job))));
        reads.forEach(job -> end(job, true, true));
        writes.forEach(job -> end(job, false, true));
    }
}
