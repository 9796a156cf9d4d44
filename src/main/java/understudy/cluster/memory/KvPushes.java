package understudy.cluster.memory;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntLists;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;
import understudy.cluster.ClusterEvent;
import understudy.cluster.KvBlockManager;
import understudy.cluster.KvExchange;
import understudy.cluster.Replica;
import understudy.cluster.link.Link;
import understudy.kvcache.KvCache;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.PushWord;
import understudy.kvcache.connector.TransferJob;
import understudy.report.transfers.KvTraffic;
import understudy.report.transfers.TransferRecorder;
import understudy.routing.Role;
import understudy.runtime.Clock;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.Transfer;
import understudy.transfer.TransferEnded;

/**
 * KV of requests that two replicas have at the same time: the memory of the one that computes prompts pushes it to that of
 * the one that answers (SGLang's {@code KVSender} and {@code KVReceiver}). The engines say what is to be done, by {@link
 * PushWord}s, and are told of each word of the other side:
 *
 * <ol>
 *   <li>When the request is in the queue of the engine that answers, there is a handshake, once for two replicas.
 *   <li>When that engine has places, its memory announces them, which takes as long as a notification.
 *   <li>The other engine is told as soon as it has the request, too. It sends pieces, the last of them marked.
 *   <li>When all of them have arrived, both engines are told.
 * </ol>
 *
 * <p>What fails on one side fails on the other: the memory that answers tells the other one; of the end of a prompt the
 * router knows, and tells the one that answers, since only then it has certainly got the request.
 */
final class KvPushes implements KvMoves {
    private final ActorContext<KvBlockManager.Command> context;
    private final Clock clock;

    /** The own replica. */
    private final ActorRef<Replica.Command> self;

    private final KvCache kvCache;
    private final KvTransferSpec spec;
    private final int replicaIndex;
    private final boolean isPrefill;
    private final @Nullable ActorRef<Link.Command> network;
    private final ActorRef<TransferEnded> onEnded;
    private final TransferRecorder recorder;
    private final ClusterEvent.@Nullable Subscriber subscriber;

    /** Requests whose KV is still to come, or to go, by id. */
    private final Long2ObjectLinkedOpenHashMap<Push> pushes = new Long2ObjectLinkedOpenHashMap<>();

    /** What is on the network, by its number. */
    private final Long2ObjectLinkedOpenHashMap<Piece> pieces = new Long2ObjectLinkedOpenHashMap<>();

    private final Long2ObjectLinkedOpenHashMap<ActorRef<Replica.Command>> handshakes =
            new Long2ObjectLinkedOpenHashMap<>();

    /** Requests that wait for a handshake with a replica. */
    private final Map<ActorRef<?>, LongArrayList> meeting = new LinkedHashMap<>();

    private final Set<ActorRef<?>> met = new HashSet<>();
    private long numJobs;
    private @Nullable ActorRef<? super KvExchange.Over> leaver;

    /** State of a request. */
    private static final class Push {
        final long requestId;
        final ActorRef<Replica.Command> peer;

        /** Whether the own engine has it. */
        boolean isQueued;

        /** Whether the other one has places for its KV. */
        boolean isAnnounced;

        boolean isAllSent;
        int numPieces;

        Push(long requestId, ActorRef<Replica.Command> peer) {
            this.requestId = requestId;
            this.peer = peer;
        }
    }

    /** Pages on their way. */
    private record Piece(Push push, int numPages) {}

    KvPushes(
            ActorContext<KvBlockManager.Command> context,
            KvCache kvCache,
            KvTransferSpec spec,
            KvBlockManager.Setup setup) {
        this.context = context;
        clock = setup.clock();
        self = setup.replica();
        this.kvCache = kvCache;
        this.spec = spec;
        replicaIndex = setup.replicaIndex();
        isPrefill = setup.spec().traits().role() == Role.PREFILL;
        network = setup.peers().network();
        onEnded = context.messageAdapter(TransferEnded.class, KvExchange.Moved::new);
        subscriber = setup.peers().subscriber();
        recorder =
                new TransferRecorder(spec.descriptorsPerBlock(), setup.peers().keepsRecords(), subscriber != null);
    }

    @Override
    public void on(KvExchange.Command command) {
        if (command instanceof KvExchange.Expect expect) {
            var peer = Objects.requireNonNull(expect.holder());
            pushes.put(expect.requestId(), new Push(expect.requestId(), peer));
            context.watch(peer);
        } else if (command instanceof KvExchange.Unserved unserved) {
            onFreed(unserved.requestId());
        } else if (command instanceof KvExchange.Announced announced) {
            onAnnounced(pushes.get(announced.requestId()), announced.from());
        } else if (command instanceof KvExchange.Pushed pushed) {
            onPushed(pushes.get(pushed.requestId()), pushed.from());
        } else if (command instanceof KvExchange.PeerGone gone) {
            fail(pushes.get(gone.requestId()));
        } else if (command instanceof KvExchange.Moved moved) {
            onMoved(moved.ended());
        } else if (command instanceof KvExchange.AwaitEnd await) {
            leaver = await.replyTo();
        }
        tellIfOver();
    }

    private void tellIfOver() {
        if (leaver != null && pushes.isEmpty()) {
            leaver.tell(KvExchange.Over.NOW);
            leaver = null;
        }
    }

    /** Carries out what the engine has said; words about requests that have ended are too late. */
    @Override
    public void onAsked() {
        for (var word : kvCache.takePushWords()) {
            var push = pushes.get(word.requestId());
            if (push != null) {
                carryOut(word, push);
            }
        }
    }

    private void carryOut(PushWord word, Push push) {
        switch (word.kind()) {
            case QUEUED -> {
                push.isQueued = true;
                if (!isPrefill) {
                    meet(push);
                } else if (push.isAnnounced) {
                    tellEngine(push.requestId);
                }
            }
            case PLACES ->
                clock.tellAfter(
                        spec.networkCost().notifyNanos(),
                        push.peer,
                        new Replica.ForMemory(new KvExchange.Announced(push.requestId, self)));
            case PIECE -> send(push, word.numPages());
            case LAST_PIECE -> {
                push.isAllSent = true;
                send(push, word.numPages());
            }
        }
    }

    private void tellEngine(long requestId) {
        self.tell(new KvBlockManager.KvArrived(LongList.of(requestId), null));
    }

    /** Has the handshake with the other replica, unless there was one. */
    private void meet(Push push) {
        if (met.contains(push.peer)) {
            tellEngine(push.requestId);
            return;
        }
        var waiting = meeting.get(push.peer);
        if (waiting == null) {
            waiting = new LongArrayList();
            meeting.put(push.peer, waiting);
            handshakes.put(numJobs, push.peer);
            start(push.peer, 0, 0);
        }
        waiting.add(push.requestId);
    }

    /** Puts something on the network, under the next number. */
    private void start(ActorRef<Replica.Command> peer, long bytes, int numDescriptors) {
        int peerIndex = Replica.indexOf(peer.path().name());
        long pair = isPrefill
                ? replicaIndex * KvTransfers.JOBS_PER_REPLICA + peerIndex
                : peerIndex * KvTransfers.JOBS_PER_REPLICA + replicaIndex;
        var ports = IntList.of(KvTransferSpec.portOut(replicaIndex), KvTransferSpec.portIn(peerIndex));
        long id = KvTransfers.outside(replicaIndex, numJobs++);
        network().tell(new Link.Start(new Transfer(id, ports, bytes, numDescriptors, pair), onEnded));
    }

    private void onMet(ActorRef<Replica.Command> peer, boolean isFailed) {
        var waiting = meeting.remove(peer);
        if (waiting == null) {
            return;
        }
        if (!isFailed) {
            met.add(peer);
        }
        for (long requestId : waiting) {
            var push = pushes.get(requestId);
            if (push != null && push.peer.equals(peer)) {
                if (isFailed) {
                    fail(push);
                } else {
                    tellEngine(requestId);
                }
            }
        }
    }

    private void onAnnounced(@Nullable Push push, ActorRef<Replica.Command> from) {
        if (push != null && push.peer.equals(from)) {
            push.isAnnounced = true;
            if (push.isQueued) {
                tellEngine(push.requestId);
            }
        }
    }

    private void send(Push push, int numPages) {
        push.numPieces++;
        pieces.put(numJobs, new Piece(push, numPages));
        start(push.peer, numPages * spec.networkBytesPerBlock(), numPages * spec.descriptorsPerBlock());
    }

    private void onMoved(TransferEnded ended) {
        long job = ended.id() % KvTransfers.JOBS_PER_REPLICA;
        var peer = handshakes.remove(job);
        if (peer != null) {
            onMet(peer, ended.isFailed());
            return;
        }
        var piece = pieces.remove(job);
        if (piece == null) {
            return; // it was given up while its answer was on its way
        }
        recorder.addPush(ended, piece.numPages);
        if (subscriber != null) {
            subscriber.tell(new ClusterEvent.KvMoved(
                    replicaIndex,
                    TransferJob.Kind.READ,
                    piece.push.requestId,
                    ended.startNanos(),
                    ended.endNanos(),
                    ended.bytes(),
                    ended.isFailed()));
        }
        piece.push.numPieces--;
        if (ended.isFailed()) {
            fail(piece.push);
        } else if (piece.push.isAllSent && piece.push.numPieces == 0) {
            pushes.remove(piece.push.requestId);
            piece.push.peer.tell(new Replica.ForMemory(new KvExchange.Pushed(piece.push.requestId, self)));
            tellEngine(piece.push.requestId);
        }
    }

    private void onPushed(@Nullable Push push, ActorRef<Replica.Command> from) {
        if (push != null && push.peer.equals(from)) {
            pushes.remove(push.requestId);
            tellEngine(push.requestId);
        }
    }

    /** The own replica has given a request up, or will never serve it. */
    @Override
    public void onFreed(long requestId) {
        var push = pushes.get(requestId);
        if (push == null) {
            return;
        }
        forget(push);
        if (!isPrefill) {
            push.peer.tell(new Replica.ForMemory(new KvExchange.PeerGone(requestId)));
        }
        tellIfOver();
    }

    /** Lets a request fail whose KV will not come, or go. */
    private void fail(@Nullable Push push) {
        if (push != null) {
            forget(push);
            var failed = new KvBlockManager.FailedLoad(push.requestId, IntLists.EMPTY_LIST, IntLists.EMPTY_LIST);
            self.tell(new KvBlockManager.KvArrived(LongList.of(push.requestId), failed));
        }
    }

    private void forget(Push push) {
        pushes.remove(push.requestId, push);
        for (long job : pieces.keySet().toLongArray()) {
            if (Objects.requireNonNull(pieces.get(job)).push == push) {
                pieces.remove(job);
                cancel(job);
            }
        }
    }

    private void cancel(long job) {
        network().tell(new Link.Cancel(KvTransfers.outside(replicaIndex, job)));
    }

    @Override
    public void onHolderGone(ActorRef<?> gone) {
        met.remove(gone);
        meeting.remove(gone);
        List.copyOf(pushes.values()).stream()
                .filter(push -> push.peer.equals(gone))
                .forEach(this::fail);
        tellIfOver();
    }

    @Override
    public KvTraffic taken(PrefixCacheStats external) {
        return recorder.taken(external, List.of());
    }

    @Override
    public KvTraffic all(PrefixCacheStats external) {
        return recorder.all(external, List.of());
    }

    @Override
    public void stop() {
        pieces.keySet().forEach(this::cancel);
        handshakes.keySet().forEach(this::cancel);
    }

    private ActorRef<Link.Command> network() {
        return Objects.requireNonNull(network);
    }
}
