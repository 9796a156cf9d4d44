package understudy.cluster.memory;

import it.unimi.dsi.fastutil.HashCommon;
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
import understudy.cluster.sidechannel.SideChannel;
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
 *
 * <p>The other replica may be one of another process, which the request meets in a room. Then each side has a network of its
 * own, and the words of a {@link RoomTalk} take the place of messages.
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
    private final RoomTalk.Line line;
    private final ActorRef<TransferEnded> onEnded;
    private final TransferRecorder recorder;
    private final ClusterEvent.@Nullable Subscriber subscriber;

    /** Requests whose KV is still to come, or to go, by id. */
    private final Long2ObjectLinkedOpenHashMap<Push> pushes = new Long2ObjectLinkedOpenHashMap<>();

    /** What is on the network, by its number. */
    private final Long2ObjectLinkedOpenHashMap<Piece> pieces = new Long2ObjectLinkedOpenHashMap<>();

    /** Replicas or addresses with which a handshake is on the network, by its number. */
    private final Long2ObjectLinkedOpenHashMap<Object> handshakes = new Long2ObjectLinkedOpenHashMap<>();

    /** Requests that wait for a handshake with a replica or an address. */
    private final Map<Object, LongArrayList> meeting = new LinkedHashMap<>();

    private final Set<Object> met = new HashSet<>();
    private long numJobs;
    private @Nullable ActorRef<? super KvExchange.Over> leaver;

    /** State of a request. */
    private static final class Push {
        final long requestId;

        /** The other replica, or null if it is one of another process. */
        final @Nullable ActorRef<Replica.Command> peer;

        /** What is said to that process, or null if there is none. */
        final @Nullable RoomTalk talk;

        /** Whether the own engine has it. */
        boolean isQueued;

        /** Whether the other one has places for its KV. */
        boolean isAnnounced;

        /** Whether the two processes know each other. */
        boolean isMet;

        /** When it was queued, when the handshake was done or places were known, and when the last word was said. */
        long queuedNanos;

        long metNanos;
        long saidNanos;
        long bytes;

        boolean isAllSent;
        int numPieces;

        Push(long requestId, @Nullable ActorRef<Replica.Command> peer, @Nullable RoomTalk talk) {
            this.requestId = requestId;
            this.peer = peer;
            this.talk = talk;
        }

        boolean isWith(Object other) {
            return other.equals(peer);
        }

        /** Returns with whom there is a handshake. */
        Object place() {
            return peer == null ? Objects.requireNonNull(talk).room().address() : peer;
        }

        boolean isFake() {
            return talk != null && talk.room().isFake();
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
        line = new RoomTalk.Line(
                clock,
                isPrefill,
                spec.rooms(),
                setup.peers().sideChannel(),
                context.getSelf(),
                context.messageAdapter(SideChannel.Answer.class, KvExchange.AnsweredOfPush::new),
                context.messageAdapter(SideChannel.Asked.class, KvExchange.AskedOfPush::new));
        recorder =
                new TransferRecorder(spec.descriptorsPerBlock(), setup.peers().keepsRecords(), subscriber != null);
    }

    @Override
    public void on(KvExchange.Command command) {
        if (command instanceof KvExchange.Expect expect) {
            onExpect(expect);
        } else if (command instanceof KvExchange.Unserved unserved) {
            onFreed(unserved.requestId());
        } else if (command instanceof KvExchange.Announced announced) {
            onAnnounced(pushes.get(announced.requestId()), announced.from());
        } else if (command instanceof KvExchange.Pushed pushed) {
            onPushed(pushes.get(pushed.requestId()), pushed.from());
        } else if (command instanceof KvExchange.PeerGone gone) {
            fail(pushes.get(gone.requestId()), "Aborted by AbortReq.");
        } else if (command instanceof KvExchange.AskedOfPush asked) {
            onAsked(asked.asked());
        } else if (command instanceof KvExchange.AnsweredOfPush answered) {
            onAnswered(answered.answer());
        } else if (command instanceof KvExchange.PushWordDue due) {
            onWordDue(pushes.get(due.requestId()), due.word());
        } else if (command instanceof KvExchange.PushOverdue overdue) {
            onOverdue(pushes.get(overdue.requestId()), overdue.afterNanos());
        } else if (command instanceof KvExchange.Moved moved) {
            onMoved(moved.ended());
        } else if (command instanceof KvExchange.AwaitEnd await) {
            leaver = await.replyTo();
        }
        tellIfOver();
    }

    private void onExpect(KvExchange.Expect expect) {
        long id = expect.requestId();
        var peer = expect.holder();
        if (peer == null) {
            pushes.put(id, new Push(id, null, RoomTalk.open(line, id, Objects.requireNonNull(expect.remoteKv()))));
        } else {
            pushes.put(id, new Push(id, peer, null));
            context.watch(peer);
        }
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
                push.queuedNanos = clock.nowNanos();
                if (!isPrefill) {
                    meet(push);
                } else if (push.isAnnounced || push.isFake()) {
                    onMet(push);
                }
            }
            case PLACES -> announce(push);
            case PIECE -> send(push, word.numPages());
            case LAST_PIECE -> {
                push.isAllSent = true;
                push.saidNanos = clock.nowNanos();
                send(push, word.numPages());
            }
        }
    }

    private void tellEngine(long requestId) {
        self.tell(new KvBlockManager.KvArrived(LongList.of(requestId), null));
    }

    private void announce(Push push) {
        push.saidNanos = clock.nowNanos();
        long notifyNanos = spec.networkCost().notifyNanos();
        if (push.isFake()) {
            arrive(push);
        } else if (push.talk != null) {
            push.talk.announceAfter(notifyNanos);
        } else {
            clock.tellAfter(
                    notifyNanos,
                    Objects.requireNonNull(push.peer),
                    new Replica.ForMemory(new KvExchange.Announced(push.requestId, self)));
        }
    }

    /** Has the handshake with the other replica, unless there was one. */
    private void meet(Push push) {
        if (push.isFake() || met.contains(push.place())) {
            onMet(push);
            return;
        }
        var waiting = meeting.get(push.place());
        if (waiting == null) {
            waiting = new LongArrayList();
            meeting.put(push.place(), waiting);
            if (push.talk == null) {
                shakeHands(push);
            } else {
                push.talk.meet();
            }
        }
        waiting.add(push.requestId);
    }

    private void shakeHands(Push push) {
        handshakes.put(numJobs, push.place());
        start(push, 0, 0);
    }

    /** Puts something on the network, under the next number. */
    private void start(Push push, long bytes, int numDescriptors) {
        int portOut = KvTransferSpec.portOut(replicaIndex);
        IntList ports;
        long pair;
        if (push.peer == null) {
            // The network of the other process is none of this one.
            ports = IntList.of(isPrefill ? portOut : KvTransferSpec.portIn(replicaIndex));
            pair = HashCommon.mix(push.place().hashCode() + (long) replicaIndex) | Long.MIN_VALUE;
        } else {
            int peerIndex = Replica.indexOf(push.peer.path().name());
            ports = IntList.of(portOut, KvTransferSpec.portIn(peerIndex));
            pair = isPrefill
                    ? replicaIndex * KvTransfers.JOBS_PER_REPLICA + peerIndex
                    : peerIndex * KvTransfers.JOBS_PER_REPLICA + replicaIndex;
        }
        long id = KvTransfers.outside(replicaIndex, numJobs++);
        network().tell(new Link.Start(new Transfer(id, ports, bytes, numDescriptors, pair), onEnded));
    }

    /** The two replicas know each other, or, where prompts are computed, of places. */
    private void onMet(Push push) {
        push.isMet = true;
        push.metNanos = clock.nowNanos();
        tellEngine(push.requestId);
    }

    /** @param failure why there is no handshake, or null if there is one */
    private void onMet(Object place, @Nullable String failure) {
        var waiting = meeting.remove(place);
        if (waiting == null) {
            return;
        }
        if (failure == null) {
            met.add(place);
        }
        for (long requestId : waiting) {
            var push = pushes.get(requestId);
            if (push != null && push.place().equals(place)) {
                if (failure != null) {
                    fail(push, failure);
                } else {
                    onMet(push);
                }
            }
        }
    }

    /** Another process has said something about a room whose prompt is computed here. */
    private void onAsked(SideChannel.Asked asked) {
        var push = pushes.get(asked.requestId());
        if (push == null || push.talk == null) {
            return;
        }
        if (asked.word() == SideChannel.Word.GONE) {
            fail(push, "Aborted by AbortReq.");
        } else {
            push.talk.onPlaces();
            onAnnounced(push);
        }
    }

    /** Another process, which computes a prompt, has answered; about a request that has ended meanwhile it is too late. */
    private void onAnswered(SideChannel.Answer answer) {
        var push = pushes.get(answer.requestId());
        if (push == null || push.talk == null) {
            if (answer.word() == SideChannel.Word.MEET) {
                meetForOthers();
            }
            return;
        }
        boolean isReached = answer.state() == SideChannel.State.KEPT;
        if (answer.word() == SideChannel.Word.MEET) {
            if (isReached) {
                shakeHands(push);
            } else if (!push.talk.meetAgain()) {
                onMet(push.place(), push.talk.unmet());
            }
        } else if (answer.word() == SideChannel.Word.PLACES && isReached) {
            arrive(push);
        } else if (answer.word() == SideChannel.Word.PLACES) {
            boolean isGivenUp = answer.state() == SideChannel.State.GIVEN_UP;
            if (!isGivenUp) {
                met.remove(push.place());
            }
            fail(
                    push,
                    isGivenUp
                            ? "Failed to send kv chunk of " + push.talk.room().requestId() + " from "
                                    + push.talk.room().address()
                            : "Lost connection with prefill instance (bootstrap_addr: "
                                    + push.talk.room().address() + ")");
        }
    }

    /** The request that asked for a handshake has ended: the next one that waits for it asks. */
    private void meetForOthers() {
        for (var waiting : List.copyOf(meeting.values())) {
            waiting.removeIf(id -> !pushes.containsKey(id));
            var next = waiting.isEmpty() ? null : pushes.get(waiting.getLong(0));
            if (next != null && next.talk != null) {
                next.talk.meet();
            }
        }
        meeting.values().removeIf(LongArrayList::isEmpty);
    }

    private void onWordDue(@Nullable Push push, SideChannel.Word word) {
        if (push == null || push.talk == null) {
            meetForOthers();
        } else if (word == SideChannel.Word.MEET) {
            push.talk.meet();
        } else {
            push.talk.announce();
        }
    }

    private void onOverdue(@Nullable Push push, long afterNanos) {
        if (push != null && push.talk != null) {
            fail(push, push.talk.overdue(afterNanos));
        }
    }

    private void onAnnounced(@Nullable Push push, ActorRef<Replica.Command> from) {
        if (push != null && push.isWith(from)) {
            onAnnounced(push);
        }
    }

    private void onAnnounced(Push push) {
        push.isAnnounced = true;
        if (push.isQueued) {
            onMet(push);
        }
    }

    private void send(Push push, int numPages) {
        if (push.isFake()) {
            if (push.isAllSent) {
                arrive(push);
            }
            return;
        }
        long bytes = numPages * spec.networkBytesPerBlock() + (push.isAllSent ? spec.networkBytesPerState() : 0);
        push.numPieces++;
        push.bytes += bytes;
        pieces.put(numJobs, new Piece(push, numPages));
        start(push, bytes, numPages * spec.descriptorsPerBlock());
    }

    private void onMoved(TransferEnded ended) {
        long job = ended.id() % KvTransfers.JOBS_PER_REPLICA;
        var place = handshakes.remove(job);
        if (place != null) {
            onMet(place, ended.isFailed() ? "the handshake has failed" : null);
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
            fail(piece.push, "a transfer has failed");
        } else if (piece.push.isAllSent && piece.push.numPieces == 0) {
            if (piece.push.peer != null) {
                piece.push.peer.tell(new Replica.ForMemory(new KvExchange.Pushed(piece.push.requestId, self)));
            }
            arrive(piece.push);
        }
    }

    private void onPushed(@Nullable Push push, ActorRef<Replica.Command> from) {
        if (push != null && push.isWith(from)) {
            arrive(push);
        }
    }

    /** All KV of a request is where it is to be. */
    private void arrive(Push push) {
        pushes.remove(push.requestId);
        tellSubscriber(push, false);
        if (push.talk != null) {
            push.talk.close(true);
        }
        tellEngine(push.requestId);
    }

    /** The own replica has given a request up, or will never serve it. */
    @Override
    public void onFreed(long requestId) {
        var push = pushes.get(requestId);
        if (push == null) {
            return;
        }
        forget(push);
        if (!isPrefill && push.peer != null) {
            push.peer.tell(new Replica.ForMemory(new KvExchange.PeerGone(requestId)));
        }
        tellIfOver();
    }

    /** Lets a request fail whose KV will not come, or go. */
    private void fail(@Nullable Push push, String why) {
        if (push != null) {
            forget(push);
            tellSubscriber(push, true);
            String reason =
                    push.talk == null ? KvBlockManager.FailedLoad.NOT_LOADED : push.talk.failure(why, push.isMet);
            var failed =
                    new KvBlockManager.FailedLoad(push.requestId, IntLists.EMPTY_LIST, IntLists.EMPTY_LIST, reason);
            self.tell(new KvBlockManager.KvArrived(LongList.of(push.requestId), failed));
        }
    }

    private void tellSubscriber(Push push, boolean isFailed) {
        if (subscriber == null) {
            return;
        }
        long placesNanos = isPrefill || push.saidNanos == 0 ? 0 : push.saidNanos - push.metNanos;
        subscriber.tell(new ClusterEvent.KvPushEnded(
                replicaIndex,
                push.requestId,
                push.isMet,
                isFailed,
                push.isMet ? push.metNanos - push.queuedNanos : 0,
                placesNanos,
                push.saidNanos == 0 ? 0 : clock.nowNanos() - push.saidNanos,
                push.bytes));
    }

    private void forget(Push push) {
        pushes.remove(push.requestId, push);
        if (push.talk != null) {
            push.talk.close(false);
        }
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
                .filter(push -> push.isWith(gone))
                .forEach(push -> fail(push, "the other replica has ended"));
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
        pushes.values().stream().map(push -> push.talk).filter(Objects::nonNull).forEach(talk -> talk.close(false));
        pieces.keySet().forEach(this::cancel);
        handshakes.keySet().forEach(this::cancel);
    }

    private ActorRef<Link.Command> network() {
        return Objects.requireNonNull(network);
    }
}
