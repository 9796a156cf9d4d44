package understudy.cluster.memory;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.link.Link;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.TransferJob;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.TransferRecorder;
import understudy.runtime.Clock;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/** Transfers of one memory: starts its jobs on links, and tells memory and replica when they are over. */
final class KvTransfers implements KvMoves {

    /** Sets the numbers of different replicas' transfers apart, which share a network. */
    static final long JOBS_PER_REPLICA = 1L << 40;

    private final Clock clock;
    private final ActorRef<? super KvBlockManager.KvArrived> replica;
    private final ConnectedBlocks blocks;
    private final KvTransferSpec spec;
    private final int replicaIndex;
    private final ActorRef<Link.Command> hostLink;
    private final ActorRef<TransferEnded> onEnded;
    private final RemoteReads reads;
    private final KeptBlocks kept;
    private final StoreMoves storeMoves;
    private final TransferRecorder recorder;
    private final ClusterEvent.@Nullable Subscriber subscriber;
    private final Long2ObjectLinkedOpenHashMap<TransferJob> running = new Long2ObjectLinkedOpenHashMap<>();
    private final LongOpenHashSet toFlush = new LongOpenHashSet();
    private @Nullable Runnable whenFlushed;
    private @Nullable ActorRef<? super KvExchange.Over> leaver;

    KvTransfers(
            ActorContext<KvBlockManager.Command> context,
            ConnectedBlocks blocks,
            KvTransferSpec spec,
            KvBlockManager.Setup setup) {
        clock = setup.clock();
        replica = setup.replica();
        this.blocks = blocks;
        this.spec = spec;
        replicaIndex = setup.replicaIndex();
        subscriber = setup.peers().subscriber();
        recorder =
                new TransferRecorder(spec.descriptorsPerBlock(), setup.peers().keepsRecords(), subscriber != null);
        var random = setup.peers().linkRandom("host-link", replicaIndex);
        hostLink = context.spawn(Link.create(clock, spec.hostLink(), random), "host-link");
        onEnded = context.messageAdapter(TransferEnded.class, KvExchange.Moved::new);
        reads = new RemoteReads(context, setup, spec, recorder.counters(), onEnded, job -> end(job, true));
        kept = new KeptBlocks(context.getSelf(), setup, spec.lease(), blocks, recorder.counters());
        storeMoves = new StoreMoves(context, setup, spec, blocks, reads, onEnded);
    }

    @Override
    public void on(KvExchange.Command command) {
        if (command instanceof KvExchange.Moved moved) {
            onMoved(moved.ended());
        } else if (command instanceof KvExchange.OfReads ofReads) {
            reads.on(ofReads);
        } else if (command instanceof KvExchange.OfKept ofKept) {
            kept.on(ofKept);
        } else if (command instanceof KvExchange.OfStores ofStores) {
            endIfOver(storeMoves.on(ofStores));
        } else if (command instanceof KvExchange.AwaitEnd await) {
            leaver = await.replyTo();
        } else if (command instanceof KvExchange.SetFault set) {
            Link.set(hostLink, set.fault(), KvTransferSpec.TO_GPU, KvTransferSpec.FROM_GPU);
        } else if (command instanceof KvExchange.Lose lose) {
            lose(lose.share());
        }
        tellIfOver();
    }

    private void tellIfOver() {
        if (leaver != null && running.isEmpty() && reads.isEmpty() && blocks.held().length == 0) {
            leaver.tell(KvExchange.Over.NOW);
            leaver = null;
        }
    }

    /** Starts the leases of requests that have left blocks behind for others. */
    @Override
    public void onHeld() {
        kept.onHeld();
    }

    @Override
    public void audit(Runnable whenDone) {
        storeMoves.audit(whenDone);
    }

    @Override
    public KvTraffic taken(PrefixCacheStats external) {
        return recorder.taken(external, blocks.connector().tiers());
    }

    @Override
    public KvTraffic all(PrefixCacheStats external) {
        var tiers = new ArrayList<>(blocks.connector().tiers());
        tiers.addAll(storeMoves.states());
        return recorder.all(external, tiers);
    }

    @Override
    public void onPlanEnded(Runnable whenReady) {
        blocks.takeJobs().forEach(this::start);
        for (long job : blocks.connector().jobsToFlush()) {
            if (running.containsKey(job)) {
                toFlush.add(job);
            }
        }
        if (toFlush.isEmpty()) {
            whenReady.run();
        } else {
            whenFlushed = whenReady;
        }
        tellIfOver();
    }

    private void start(TransferJob job) {
        running.put(job.job(), job);
        switch (job.kind()) {
            case LOAD -> move(job, KvTransferSpec.TO_GPU);
            case STORE -> move(job, KvTransferSpec.FROM_GPU);
            case READ -> reads.begin(job);
            case PROMOTE, CASCADE -> endIfOver(storeMoves.start(job));
            case NOTIFY -> {
                reads.end(job.requestId());
                end(job, false);
            }
            case NOTIFY_UNSERVED -> {
                reads.onUnserved(job.requestId());
                end(job, false);
            }
        }
    }

    /** Which chunks are lost is as good as drawn, from their hashes and the time. */
    private void lose(double share) {
        long salt = clock.nowNanos();
        blocks.connector().lose(hash -> (HashCommon.mix(hash ^ salt) >>> 1) < share * Long.MAX_VALUE);
    }

    private void endIfOver(@Nullable TransferJob job) {
        if (job != null) {
            end(job, false);
        }
    }

    private void move(TransferJob job, int port) {
        int numBlocks = job.gpuBlocks().size();
        hostLink.tell(new Link.Start(
                new Transfer(job.job(), IntList.of(port), numBlocks * spec.hostBytesPerBlock(), numBlocks, 0),
                onEnded));
    }

    /** Returns the number of a replica's transfer, unlike that of any other replica's, which shares its links. */
    static long outside(int replicaIndex, long job) {
        return replicaIndex * JOBS_PER_REPLICA + job;
    }

    private void onMoved(TransferEnded ended) {
        var job = running.get(ended.id() % JOBS_PER_REPLICA);
        if (job == null) {
            return; // it was given up while its answer was on its way
        }
        recorder.add(job, ended);
        if (subscriber != null) {
            subscriber.tell(ClusterEvent.KvMoved.of(replicaIndex, job, ended));
        }
        if (job.kind() == TransferJob.Kind.READ) {
            reads.onRead(job);
        } else if (job.kind() == TransferJob.Kind.PROMOTE || job.kind() == TransferJob.Kind.CASCADE) {
            storeMoves.end(job.job(), ended.isFailed());
        }
        end(job, ended.isFailed());
    }

    @Override
    public void stop() {
        storeMoves.giveUp();
        reads.giveUp();
    }

    /** A replica has died from which KV was being read. */
    @Override
    public void onHolderGone(ActorRef<?> holder) {
        storeMoves.onPeerGone(holder).forEach(job -> end(job, true));
        reads.onHolderGone(holder);
        tellIfOver();
    }

    private void end(TransferJob job, boolean isFailed) {
        running.remove(job.job());
        var table = new IntImmutableList(
                isFailed && job.kind().isAwaited() ? blocks.blocksOf(job.requestId()) : new int[0]);
        boolean isAwaited = blocks.onJobEnded(job, isFailed);
        blocks.takeJobs().forEach(this::start);
        if (toFlush.remove(job.job()) && toFlush.isEmpty()) {
            Objects.requireNonNull(whenFlushed).run();
        }
        boolean hasFailed = isAwaited && isFailed;
        replica.tell(new KvBlockManager.KvArrived(
                isAwaited ? LongList.of(job.requestId()) : LongList.of(),
                hasFailed
                        ? new KvBlockManager.FailedLoad(
                                job.requestId(), job.gpuBlocks(), table, KvBlockManager.FailedLoad.NOT_LOADED)
                        : null));
    }
}
