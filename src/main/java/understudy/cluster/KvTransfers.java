package understudy.cluster;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.cluster.sidechannel.SideChannel;
import understudy.faults.Fault;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.RemoteKv;
import understudy.kvcache.connector.TransferJob;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.TransferRecorder;
import understudy.runtime.Clock;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/** Transfers of one memory: starts its jobs on links, and tells memory and replica when they are over. */
final class KvTransfers {

    /** Messages to a memory about transfers; some come from other replicas' memories. */
    sealed interface Command extends KvBlockManager.Command {}

    /** Another replica holds the KV of a request that has come here: one of this cluster, or one of another process. */
    record Expect(
            long requestId,
            @Nullable ActorRef<Replica.Command> holder,
            @Nullable RemoteKv remoteKv,
            long prefillNanos) implements Command {}

    /** Another process wants what is kept here for it, or no longer. */
    record AskedOutside(Cluster.AskKept ask) implements Command {}

    /** A word to another process has been answered, or has not. */
    record AnsweredOutside(SideChannel.Answer answer) implements Command {}

    /** Asks which chunks the host's memory of this replica has; they stay until {@link TakeBack}. */
    record Lend(KvTier.Job job, LongList keys, ActorRef<? super Lent> replyTo) implements Command {}

    /** The answer to {@link Lend}. */
    record Lent(long job, LongList keys) implements Command {}

    /** Ends the use of what was lent for a job, whether its answer has arrived or not. */
    record TakeBack(KvTier.Job job) implements Command {}

    /** Asks whether the blocks of a request are still here, which another replica is going to read. */
    record Read(long requestId, long job, ActorRef<? super KvBlockManager.Command> replyTo) implements Command {}

    /** The answer to {@link Read}. */
    record ReadAnswered(long job, boolean isHeld) implements Command {}

    /** The lease on the blocks of a read has ended before the read. */
    record ReadOutdated(long job) implements Command {}

    /** Another replica has read the blocks of a request, or is not going to. */
    record ReadEnded(long requestId) implements Command {}

    /** Another replica is still going to read the blocks of these requests. */
    record Heartbeat(LongList requestIds) implements Command {}

    /** A request that was expected will never be here. */
    record Unserved(long requestId) implements Command {}

    /** Asks for {@link Over} as soon as nothing is moved, nor kept for other replicas, nor expected from them. */
    record AwaitEnd(ActorRef<? super Over> replyTo) implements Command {}

    /** The answer to {@link AwaitEnd}. */
    enum Over implements Replica.Command {
        NOW
    }

    record Moved(TransferEnded ended) implements Command {}

    record Found(KvTier.Found found) implements Command {}

    record StorePrepared(KvTier.StorePrepared prepared) implements Command {}

    record StoreAudited(KvTier.Audited audited) implements Command {}

    /** The link to host memory has a fault from now on. */
    record SetFault(Fault.OfLinks fault) implements Command {}

    /** The host memory loses this share of the chunks that are not being moved. */
    record Lose(double share) implements Command {}

    /** What was waited for is due. */
    enum Due implements Command {
        LEASE,
        HEARTBEAT
    }

    /** Sets the numbers of different replicas' transfers apart, which share a network. */
    private static final long JOBS_PER_REPLICA = 1L << 40;

    private final Clock clock;
    private final ActorRef<? super KvBlockManager.KvArrived> replica;
    private final ConnectedBlocks blocks;
    private final KvTransferSpec spec;
    private final int replicaIndex;
    private final ActorRef<Link.Command> hostLink;
    private final @Nullable ActorRef<Link.Command> network;
    private final ActorRef<TransferEnded> onEnded;
    private final RemoteReads reads;
    private final StoreMoves storeMoves;
    private final TransferRecorder recorder;
    private final ClusterEvent.@Nullable Subscriber subscriber;
    private final Long2ObjectLinkedOpenHashMap<TransferJob> running = new Long2ObjectLinkedOpenHashMap<>();
    private final LongOpenHashSet toFlush = new LongOpenHashSet();
    private final Map<KvTier.Job, LongList> lent = new HashMap<>();
    private @Nullable Runnable whenFlushed;
    private @Nullable ActorRef<? super Over> leaver;

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
        network = setup.peers().network();
        subscriber = setup.peers().subscriber();
        recorder =
                new TransferRecorder(spec.descriptorsPerBlock(), setup.peers().keepsRecords(), subscriber != null);
        var random = setup.peers().linkRandom("host-link", replicaIndex);
        hostLink = context.spawn(Link.create(clock, spec.hostLink(), random), "host-link");
        onEnded = context.messageAdapter(TransferEnded.class, Moved::new);
        reads = new RemoteReads(context, setup, spec.lease(), blocks, recorder.counters());
        var peers = new StoreMoves.Peers(reads, network, spec.chunkBytes(), replicaIndex);
        storeMoves = new StoreMoves(context, stores(context, setup), blocks, outside(0), peers, onEnded);
    }

    /** Starts the stores of this replica alone, and takes the one that all have together. */
    private List<KvStore> stores(ActorContext<KvBlockManager.Command> context, KvBlockManager.Setup setup) {
        var all = new ArrayList<KvStore>();
        for (var store : setup.spec().stores()) {
            var random = setup.peers().linkRandom("disk-link", replicaIndex);
            all.add(
                    store.isShared()
                            ? Objects.requireNonNull(setup.peers().sharedStore())
                            : KvStore.start(context, clock, store, "disk", random));
        }
        return all;
    }

    void on(Command command) {
        if (command instanceof Moved moved) {
            onMoved(moved.ended);
        } else if (command instanceof ReadAnswered answer) {
            onReadAnswered(answer);
        } else if (command instanceof ReadOutdated outdated) {
            onReadOutdated(outdated.job);
        } else if (command instanceof AnsweredOutside answered) {
            onAnsweredOutside(answered.answer);
        } else if (command instanceof Unserved unserved) {
            onUnserved(unserved.requestId);
        } else if (command instanceof AwaitEnd await) {
            leaver = await.replyTo;
        } else if (command instanceof Lend lend) {
            onLend(lend);
        } else if (command instanceof Lent lent) {
            endIfOver(storeMoves.onLent(lent));
        } else if (command instanceof TakeBack back) {
            blocks.connector().takeBack(Objects.requireNonNullElse(lent.remove(back.job), LongList.of()));
        } else if (command instanceof Found found) {
            endIfOver(storeMoves.onFound(found.found));
        } else if (command instanceof StorePrepared prepared) {
            endIfOver(storeMoves.onPrepared(prepared.prepared));
        } else if (command instanceof SetFault set) {
            Link.set(hostLink, set.fault, KvTransferSpec.TO_GPU, KvTransferSpec.FROM_GPU);
        } else if (command instanceof Lose lose) {
            lose(lose.share);
        } else if (command instanceof StoreAudited audited) {
            storeMoves.onAudited(audited.audited);
        } else if (!reads.on(command)) {
            throw new IllegalArgumentException("unknown message: " + command);
        }
        tellIfOver();
    }

    private void onLend(Lend lend) {
        var keys = new LongImmutableList(blocks.connector().lend(lend.keys));
        if (!keys.isEmpty()) {
            lent.put(lend.job, keys);
        }
        lend.replyTo.tell(new Lent(lend.job.number(), keys));
    }

    private void tellIfOver() {
        if (leaver != null && running.isEmpty() && reads.areOver() && blocks.held().length == 0) {
            leaver.tell(Over.NOW);
            leaver = null;
        }
    }

    /** Starts the leases of requests that have left blocks behind for others. */
    void onHeld() {
        reads.onHeld();
    }

    /** Recounts the stores, if there are any, and runs {@code whenDone} if they are sound. */
    static void audit(@Nullable KvTransfers transfers, Runnable whenDone) {
        if (transfers == null) {
            whenDone.run();
        } else {
            transfers.storeMoves.audit(whenDone);
        }
    }

    /** Returns what was transferred since the last call, for the subscriber. */
    KvTraffic taken(PrefixCacheStats external) {
        return recorder.taken(external, blocks.connector().tiers());
    }

    /** Returns what was transferred since the start. */
    KvTraffic all(PrefixCacheStats external) {
        var tiers = new ArrayList<>(blocks.connector().tiers());
        tiers.addAll(storeMoves.states());
        return recorder.all(external, tiers);
    }

    /**
     * Starts the jobs of a plan.
     *
     * @param whenReady runs as soon as nothing stands in the way of the step
     */
    void onPlanEnded(Runnable whenReady) {
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
            case READ -> {
                if (!reads.begin(job)) {
                    lose(job);
                }
            }
            case PROMOTE, CASCADE -> endIfOver(storeMoves.start(job));
            case NOTIFY -> {
                reads.end(job.requestId());
                end(job, false);
            }
            case NOTIFY_UNSERVED -> {
                onUnserved(job.requestId());
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

    /** The other replica has answered whether it still holds what is to be read. */
    private void onReadAnswered(ReadAnswered answer) {
        var job = running.get(answer.job());
        if (job == null) {
            return;
        }
        if (!answer.isHeld() && onStale(job)) {
            return;
        }
        int numBlocks = job.gpuBlocks().size();
        boolean isOutside = job.remoteReplica() == KvTransferParams.OUTSIDE;
        int portIn = KvTransferSpec.portIn(replicaIndex);
        network()
                .tell(new Link.Start(
                        new Transfer(
                                outside(job.job()),
                                // The way out of another process is none of this network.
                                isOutside
                                        ? IntList.of(portIn)
                                        : IntList.of(KvTransferSpec.portOut(job.remoteReplica()), portIn),
                                spec.exposedBytes(numBlocks, reads.prefillNanos(job.requestId())),
                                numBlocks * spec.descriptorsPerBlock(),
                                isOutside
                                        ? reads.outside().pairOf(job.requestId(), replicaIndex)
                                        : job.remoteReplica() * JOBS_PER_REPLICA + replicaIndex),
                        onEnded));
    }

    /** What the other process says of a read that is over by now does not matter. */
    private void onAnsweredOutside(SideChannel.Answer answer) {
        reads.outside().onAnswered(answer);
        var job = running.values().stream()
                .filter(each -> each.kind() == TransferJob.Kind.READ && each.requestId() == answer.requestId())
                .findFirst();
        if (job.isEmpty() || answer.word() == SideChannel.Word.DONE) {
            return;
        }
        if (answer.state() == SideChannel.State.UNREACHABLE) {
            lose(job.get());
        } else if (answer.word() == SideChannel.Word.LOOK) {
            onReadAnswered(new ReadAnswered(job.get().job(), answer.state() == SideChannel.State.KEPT));
        } else if (answer.state() == SideChannel.State.GIVEN_UP) {
            onStale(job.get());
        }
    }

    /** The other replica has given the blocks up while they were being read. */
    private void onReadOutdated(long jobNumber) {
        var job = running.get(jobNumber);
        if (job != null) {
            onStale(job);
        }
    }

    /** Returns whether a read fails of blocks that are not there any more. */
    private boolean onStale(TransferJob job) {
        if (spec.failsStaleReads()) {
            lose(job);
        } else {
            recorder.counters().addStale();
        }
        return spec.failsStaleReads();
    }

    /** Ends a read before its time. */
    private void lose(TransferJob job) {
        network().tell(new Link.Cancel(outside(job.job())));
        recorder.counters().reads().addFailed();
        reads.end(job.requestId());
        end(job, true);
    }

    private ActorRef<Link.Command> network() {
        return Objects.requireNonNull(network);
    }

    private void onUnserved(long requestId) {
        if (spec.notifiesOnReject()) {
            reads.end(requestId);
        } else {
            reads.forget(requestId);
        }
    }

    private long outside(long job) {
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
            reads.end(job.requestId());
        } else if (job.kind() == TransferJob.Kind.PROMOTE || job.kind() == TransferJob.Kind.CASCADE) {
            storeMoves.end(job.job(), ended.isFailed());
        }
        end(job, ended.isFailed());
    }

    /** Gives everything up that others have for this memory, which is no more. */
    void stop() {
        storeMoves.giveUp();
        running.values().stream()
                .filter(job -> job.kind() == TransferJob.Kind.READ)
                .forEach(job -> network().tell(new Link.Cancel(outside(job.job()))));
    }

    /** A replica has died from which KV was being read. */
    void onHolderGone(ActorRef<?> holder) {
        storeMoves.onPeerGone(holder).forEach(job -> end(job, true));
        reads.lost(holder, running.values()).forEach(this::lose);
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
                hasFailed ? new KvBlockManager.FailedLoad(job.requestId(), job.gpuBlocks(), table) : null));
    }
}
