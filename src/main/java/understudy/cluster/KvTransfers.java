package understudy.cluster;

import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.Link;
import understudy.faults.Fault;
import understudy.kvcache.ConnectedBlocks;
import understudy.kvcache.connector.TransferJob;
import understudy.runtime.Clock;
import understudy.transfer.KvLeases;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferCounters;
import understudy.transfer.TransferEnded;
import understudy.transfer.TransferLog;

/** Transfers of one memory: starts its jobs on links, and tells memory and replica when they are over. */
final class KvTransfers {

    /** Messages to a memory about transfers; some come from other replicas' memories. */
    sealed interface Command extends KvBlockManager.Command {}

    /** Another replica holds the KV of a request that has come here. */
    record Expect(long requestId, ActorRef<Replica.Command> holder) implements Command {}

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

    /** The link to host memory has a fault from now on. */
    record SetFault(Fault.OfLinks fault) implements Command {}

    /** The host memory loses this share of the chunks that are not being moved. */
    record Lose(double share) implements Command {}

    record Moved(TransferEnded ended) implements Command {}

    enum LeaseDue implements Command {
        NOW
    }

    enum BeatDue implements Command {
        NOW
    }

    /** Sets the numbers of different replicas' transfers apart, which share a network. */
    private static final long JOBS_PER_REPLICA = 1L << 40;

    private final Clock clock;
    private final ActorRef<KvBlockManager.Command> self;
    private final ActorRef<? super KvBlockManager.KvArrived> replica;
    private final ConnectedBlocks blocks;
    private final KvTransferSpec spec;
    private final int replicaIndex;
    private final ActorRef<Link.Command> hostLink;
    private final @Nullable ActorRef<Link.Command> network;
    private final ActorRef<TransferEnded> onEnded;
    private final RemoteReads reads;
    private final KvLeases leases;
    private final TransferCounters counters = new TransferCounters();
    private final Long2ObjectLinkedOpenHashMap<TransferJob> running = new Long2ObjectLinkedOpenHashMap<>();
    private final Long2ObjectOpenHashMap<Read> readsHere = new Long2ObjectOpenHashMap<>();
    private final LongOpenHashSet toFlush = new LongOpenHashSet();
    private @Nullable Runnable whenFlushed;
    private @Nullable ActorRef<? super Over> leaver;
    private long leaseDueNanos = Long.MAX_VALUE;

    KvTransfers(
            ActorContext<KvBlockManager.Command> context,
            ConnectedBlocks blocks,
            KvTransferSpec spec,
            KvBlockManager.Setup setup) {
        clock = setup.clock();
        self = context.getSelf();
        replica = setup.replica();
        this.blocks = blocks;
        this.spec = spec;
        replicaIndex = setup.replicaIndex();
        network = setup.peers().network();
        var random = setup.peers().linkRandom(replicaIndex);
        hostLink = context.spawn(Link.create(clock, spec.hostLink(), random), "host-link");
        onEnded = context.messageAdapter(TransferEnded.class, Moved::new);
        reads = new RemoteReads(context, clock, spec.lease());
        leases = new KvLeases(spec.lease());
    }

    void on(Command command) {
        if (command instanceof Moved moved) {
            onMoved(moved.ended);
        } else if (command instanceof Read read) {
            onRead(read);
        } else if (command instanceof ReadAnswered answer) {
            onReadAnswered(answer);
        } else if (command instanceof ReadOutdated outdated) {
            onReadOutdated(outdated.job);
        } else if (command instanceof ReadEnded ended) {
            onReadEnded(ended.requestId);
        } else if (command instanceof Unserved unserved) {
            onUnserved(unserved.requestId);
        } else if (command instanceof Expect expect) {
            reads.expect(expect.requestId, expect.holder);
        } else if (command instanceof Heartbeat heartbeat) {
            onHeartbeat(heartbeat.requestIds);
        } else if (command instanceof BeatDue) {
            reads.onBeatDue();
        } else if (command instanceof LeaseDue) {
            onLeaseDue();
        } else if (command instanceof SetFault set) {
            set(hostLink, set.fault, KvTransferSpec.TO_GPU, KvTransferSpec.FROM_GPU);
        } else if (command instanceof Lose lose) {
            lose(lose.share);
        } else if (command instanceof AwaitEnd await) {
            leaver = await.replyTo;
        }
        tellIfOver();
    }

    /** Lets a fault of a link take effect. */
    static void set(ActorRef<Link.Command> link, Fault.OfLinks fault, int... ports) {
        if (fault instanceof Fault.FailTransfers fail) {
            link.tell(new Link.SetFailShare(fail.rate()));
        } else if (fault instanceof Fault.SlowLink slow) {
            for (int port : ports) {
                link.tell(new Link.SetFactor(port, slow.factor()));
            }
        }
    }

    /** Which chunks are lost is as good as drawn, from their hashes and the time. */
    private void lose(double share) {
        long salt = clock.nowNanos();
        blocks.lose(hash -> (HashCommon.mix(hash ^ salt) >>> 1) < share * Long.MAX_VALUE);
    }

    private void tellIfOver() {
        if (leaver != null && running.isEmpty() && reads.areOver() && blocks.held().length == 0) {
            leaver.tell(Over.NOW);
            leaver = null;
        }
    }

    TransferCounters counters() {
        return counters;
    }

    /**
     * Starts the jobs of a plan.
     *
     * @param whenReady runs as soon as nothing stands in the way of the step
     */
    void onPlanEnded(Runnable whenReady) {
        blocks.takeJobs().forEach(this::start);
        for (long job : blocks.jobsToFlush()) {
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
        var ports = IntList.of(KvTransferSpec.portOut(job.remoteReplica()), KvTransferSpec.portIn(replicaIndex));
        network()
                .tell(new Link.Start(
                        new Transfer(
                                outside(job.job()),
                                ports,
                                numBlocks * spec.networkBytesPerBlock(),
                                numBlocks * spec.descriptorsPerBlock(),
                                job.remoteReplica() * JOBS_PER_REPLICA + replicaIndex),
                        onEnded));
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
            counters.addStale();
        }
        return spec.failsStaleReads();
    }

    /** Ends a read before its time. */
    private void lose(TransferJob job) {
        network().tell(new Link.Cancel(outside(job.job())));
        counters.reads().addFailed();
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
            reads.drop(requestId);
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
        log(job).add(ended, job.gpuBlocks().size() * spec.descriptorsPerBlock());
        if (job.kind() == TransferJob.Kind.READ) {
            reads.end(job.requestId());
        }
        end(job, ended.isFailed());
    }

    private TransferLog log(TransferJob job) {
        return switch (job.kind()) {
            case LOAD -> counters.loads();
            case STORE -> counters.stores();
            case READ, NOTIFY, NOTIFY_UNSERVED -> counters.reads();
        };
    }

    /** A replica has died from which KV was being read. */
    void onHolderGone(ActorRef<?> holder) {
        reads.lost(holder, running.values()).forEach(this::lose);
        tellIfOver();
    }

    private void end(TransferJob job, boolean isFailed) {
        running.remove(job.job());
        var table = new IntImmutableList(
                isFailed && job.kind().isAwaited() ? blocks.blocksOf(job.requestId()) : new int[0]);
        boolean isAwaited = blocks.onJobEnded(job, isFailed);
        if (toFlush.remove(job.job()) && toFlush.isEmpty()) {
            Objects.requireNonNull(whenFlushed).run();
        }
        boolean hasFailed = isAwaited && isFailed;
        replica.tell(new KvBlockManager.KvArrived(
                isAwaited ? LongList.of(job.requestId()) : LongList.of(),
                hasFailed ? new KvBlockManager.FailedLoad(job.requestId(), job.gpuBlocks(), table) : null));
    }

    /** Starts the leases of requests that have left blocks behind for others. */
    void onHeld() {
        for (long requestId : blocks.takeHeld()) {
            leases.begin(requestId, clock.nowNanos());
        }
        awaitLease();
    }

    /** Answers whether blocks are still here. */
    private void onRead(Read read) {
        boolean isHeld = blocks.isHeld(read.requestId());
        if (isHeld) {
            readsHere.put(read.requestId(), read);
        }
        read.replyTo().tell(new ReadAnswered(read.job(), isHeld));
    }

    /** Frees what another replica has read, or does not want. */
    private void onReadEnded(long requestId) {
        leases.end(requestId);
        readsHere.remove(requestId);
        free(LongList.of(requestId));
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
            read.replyTo().tell(new ReadOutdated(read.job()));
        }
    }

    /** A lease that was renewed is looked at once more when it would have ended. */
    private void awaitLease() {
        long atNanos = leases.nextNanos();
        if (atNanos < leaseDueNanos) {
            leaseDueNanos = atNanos;
            clock.tellAfter(atNanos - clock.nowNanos(), self, LeaseDue.NOW);
        }
    }

    private void free(LongList requestIds) {
        requestIds.forEach(blocks::release);
        if (!requestIds.isEmpty()) {
            replica.tell(new KvBlockManager.KvArrived(LongList.of(), null));
        }
    }
}
