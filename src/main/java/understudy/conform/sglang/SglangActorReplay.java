package understudy.conform.sglang;

import it.unimi.dsi.fastutil.longs.LongList;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import understudy.cluster.KvBlockManager;
import understudy.cluster.Replica;
import understudy.cluster.ReplicaPeers;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.RequestEvent;
import understudy.cluster.device.GpuModel;
import understudy.cluster.lockstep.EarlierStages;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.cluster.replica.RunningReplica;
import understudy.conform.Conformance;
import understudy.engine.Engine;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.RequestLimits;
import understudy.engine.sglang.SglangSpec;
import understudy.engine.sglang.SglangSpecBuilder;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.radix.RadixKvCache;
import understudy.kvcache.radix.RadixSpec;
import understudy.prompt.Xxh3BlockHasher;
import understudy.routing.RouterSpec;
import understudy.routing.policy.RoundRobin;
import understudy.runtime.Clock;
import understudy.runtime.VirtualTime;
import understudy.workload.RandomStreams;

/**
 * Replay of a recording through the real actors in virtual time. Turn k is the instant k milliseconds of a device that
 * takes one millisecond for everything.
 */
public final class SglangActorReplay extends AbstractBehavior<SglangActorReplay.Command> {
    static final long NANOS_PER_TURN = 1_000_000;

    /** Messages of the replay. */
    public sealed interface Command {}

    private enum Start implements Command {
        NOW
    }

    private record Arrive(int index) implements Command {}

    /** The abort of a request; one that is to come after the results of the instant is put off once. */
    private record Abort(int index, boolean isPutOff) implements Command {}

    /** There is a turn in each instant, whether there is a reason or not. */
    private record Turn(int number) implements Command {}

    private enum End implements Command {
        NOW
    }

    private record Ignored(RequestEvent event) implements Command {}

    private final TimerScheduler<Command> timers;
    private final SglangRecording recording;
    private final RecordedEngine engine;
    private final CompletableFuture<Conformance> result;
    private final ActorRef<Replica.Command> replica;
    private final ActorRef<RequestEvent> requestEvents;

    private SglangActorReplay(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            Clock clock,
            SglangRecording recording,
            CompletableFuture<Conformance> result) {
        super(context);
        this.timers = timers;
        this.recording = recording;
        this.result = result;
        var config = recording.schedulerConfig();
        var hasher = new Xxh3BlockHasher(config.memory().pageSize());
        var settings = SglangSpecBuilder.builder()
                .config(config)
                .kvCache(new RadixSpec(config.memory(), config.maxModelLen(), hasher, false))
                .limits(RequestLimits.NONE)
                .room(KvRoom.GIVEN)
                .numRanks(1)
                .loraModules(Map.of())
                .decoding(new SglangSpec.Decoding(0, 1))
                .warnings(List.of())
                .build();
        var memory = new RadixKvCache(settings.kvCache());
        engine = new RecordedEngine(recording, memory.memory());
        requestEvents = context.messageAdapter(RequestEvent.class, Ignored::new);
        var ignore = context.getSystem().ignoreRef();
        var peers = ReplicaPeers.of(ignore.narrow(), ignore.narrow(), RouterSpec.of(RoundRobin.FACTORY));
        var device = new GpuModel(batch -> NANOS_PER_TURN, 0, null, new RandomStreams(0), 1, EarlierStages.NONE);
        var spec = ReplicaSpec.of(new Spec(engine, memory, settings), KvBlockManagerActor::create, device)
                .withPlanIntervalNanos(NANOS_PER_TURN);
        replica = context.spawn(RunningReplica.create(clock, 0, spec, peers), "replica");
        context.watch(replica);
    }

    /** Settings of the one engine that is taken down, and its one memory. */
    private record Spec(RecordedEngine engine, KvCache memory, SglangSpec settings) implements EngineSpec {
        @Override
        public Engine createEngine() {
            return engine;
        }

        @Override
        public KvCache createMemory() {
            return memory;
        }

        @Override
        public EngineTraits traits() {
            return settings.traits();
        }

        @Override
        public RequestLimits limits() {
            return settings.limits();
        }

        @Override
        public KvCacheSpec kvCache() {
            return settings.kvCache();
        }
    }

    /** Replays a recording, and compares every field of every turn. */
    public static Conformance replay(SglangRecording recording) {
        var result = new CompletableFuture<Conformance>();
        try (var time = VirtualTime.<Command>create(
                "conform",
                clock -> Behaviors.setup(context -> Behaviors.withTimers(
                        timers -> new SglangActorReplay(context, timers, clock, recording, result))))) {
            time.onIdle(() ->
                    result.completeExceptionally(new IllegalStateException("the replay has stalled before its end")));
            time.system().tell(Start.NOW);
            time.run(Double.POSITIVE_INFINITY);
            return result.join();
        }
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Start.class, this::onStart)
                .onMessage(Arrive.class, this::onArrive)
                .onMessage(Abort.class, this::onAbort)
                .onMessage(Turn.class, this::onTurn)
                .onMessage(End.class, this::onEnd)
                .onMessage(Ignored.class, ignored -> this)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .build();
    }

    /** Timers of one instant fire in the order in which they are set: these before everything that follows from them. */
    private Behavior<Command> onStart(Start now) {
        for (int index : recording.arrivalOrder()) {
            at(recording.requests().get(index).number("arrival_step"), new Arrive(index));
        }
        boolean isResultFirst = !recording.schedulerConfig().overlaps();
        for (int i = 0; i < recording.requests().size(); i++) {
            int turn = recording.requests().get(i).number("abort_step", -1);
            if (turn >= 0) {
                at(turn, new Abort(i, isResultFirst));
            }
        }
        for (int turn = 0; turn < recording.steps().size(); turn++) {
            at(turn, new Turn(turn));
        }
        at(recording.steps().size() + 1, End.NOW);
        return this;
    }

    private void at(int turn, Command command) {
        timers.startSingleTimer(command, command, Duration.ofNanos(turn * NANOS_PER_TURN));
    }

    private Behavior<Command> onArrive(Arrive arrive) {
        var request = recording.requests().get(arrive.index).request(arrive.index);
        replica.tell(new Replica.AddRequest(request, requestEvents, false));
        return this;
    }

    /** Where results do not overlap with plans, one that comes in this instant is that of the turn before. */
    private Behavior<Command> onAbort(Abort abort) {
        if (abort.isPutOff && engine.awaitsResult()) {
            at(0, new Abort(abort.index, false));
        } else {
            replica.tell(new Replica.Abort(abort.index));
        }
        return this;
    }

    private Behavior<Command> onTurn(Turn turn) {
        replica.tell(new KvBlockManager.KvArrived(LongList.of(), null));
        return this;
    }

    private Behavior<Command> onEnd(End now) {
        result.complete(recording.compare(engine.turns(), engine.end()));
        return Behaviors.stopped();
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        result.completeExceptionally(failed.cause());
        return Behaviors.stopped();
    }
}
