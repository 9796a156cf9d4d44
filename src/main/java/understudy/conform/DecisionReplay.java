package understudy.conform;

import static understudy.conform.RecordingPlanner.NANOS_PER_STEP;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.time.Duration;
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
import understudy.cluster.VirtualGpu;
import understudy.cluster.device.GpuModel;
import understudy.cluster.lockstep.EarlierStages;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.cluster.replica.RunningReplica;
import understudy.engine.FinishReason;
import understudy.engine.RequestLimits;
import understudy.engine.vllm.VllmSpec;
import understudy.latency.LatencyModel;
import understudy.routing.RouterSpec;
import understudy.routing.policy.RoundRobin;
import understudy.runtime.Clock;
import understudy.workload.RandomStreams;

/**
 * Sends the requests of a recorded run to a replica, and writes down what it decides. Step k is the instant k
 * milliseconds of a device that takes one millisecond for everything; an instant at which nothing is planned is an
 * empty step.
 */
public final class DecisionReplay extends AbstractBehavior<DecisionReplay.Command> {

    /** Messages of the replay. */
    public sealed interface Command {}

    /** Begins; to be sent once, at time 0. */
    public enum Start implements Command {
        NOW
    }

    private record Arrive(int index) implements Command {}

    private record Decided(PlannedStep step) implements Command {}

    private record LoadFailed(int step, long requestId) implements Command {}

    private enum Wake implements Command {
        NOW
    }

    private record Heard(RequestEvent event) implements Command {}

    private enum AskForRecord implements Command {
        NOW
    }

    private record Recorded(Replica.Recorded replicaRecord) implements Command {}

    /** Observer of the end of the replay, called on the loop thread; exactly one of the two methods is called, once. */
    public interface Observer {

        void onEnded(ReplayedRun run);

        /** The replica failed. */
        void onFailed(Throwable cause);
    }

    private final TimerScheduler<Command> timers;
    private final RecordedRun run;
    private final ReplayLog log;
    private final RecordingPlanner planner;
    private final Observer observer;
    private final ActorRef<Replica.Command> replica;
    private final ActorRef<RequestEvent> requestEvents;

    private DecisionReplay(
            ActorContext<Command> context,
            TimerScheduler<Command> timers,
            Clock clock,
            RecordedRun run,
            Observer observer) {
        super(context);
        this.timers = timers;
        this.run = run;
        this.observer = observer;
        log = new ReplayLog(run);
        planner = new RecordingPlanner(run, new Telling(context.getSelf()));
        requestEvents = context.messageAdapter(RequestEvent.class, Heard::new);
        var nobody = context.getSystem().ignoreRef();
        var peers = ReplicaPeers.of(nobody.narrow(), nobody.narrow(), RouterSpec.of(RoundRobin.FACTORY));
        replica = context.spawn(RunningReplica.create(clock, 0, spec(run, planner), peers), "replica");
        context.watch(replica);
    }

    /** Creates a replay. */
    public static Behavior<Command> create(Clock clock, RecordedRun run, Observer observer) {
        return Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new DecisionReplay(context, timers, clock, run, observer)));
    }

    /** The recording's driver makes one plan in each step, an empty one included. */
    private static ReplicaSpec spec(RecordedRun run, RecordingPlanner planner) {
        var settings = new VllmSpec(run.schedulerConfig(), RequestLimits.NONE, run.kvCacheConfig());
        return ReplicaSpec.of(
                        new RecordingPlanner.Spec(planner, settings),
                        setup -> KvBlockManagerActor.create(planner.memory(), setup),
                        device(run))
                .withPlanIntervalNanos(NANOS_PER_STEP);
    }

    /** With n steps in flight a result comes n - 1 steps later, after the plan of that step. */
    private static VirtualGpu.Factory device(RecordedRun run) {
        int depth = run.schedulerConfig().maxStepsInFlight();
        var earlier = depth > 2 ? new EarlierStages(depth - 1, batch -> NANOS_PER_STEP) : EarlierStages.NONE;
        LatencyModel last = batch -> depth > 2 ? 1 : NANOS_PER_STEP;
        return new GpuModel(last, 0, null, new RandomStreams(0), 1, earlier);
    }

    private record Telling(ActorRef<Command> self) implements RecordingPlanner.Listener {
        @Override
        public void onPlanned(PlannedStep step) {
            self.tell(new Decided(step));
        }

        @Override
        public void onFailed(int step, long requestId) {
            self.tell(new LoadFailed(step, requestId));
        }
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Decided.class, this::onDecided)
                .onMessage(Heard.class, this::onHeard)
                .onMessage(Arrive.class, this::onArrive)
                .onMessage(Start.class, this::onStart)
                .onMessage(LoadFailed.class, this::onLoadFailed)
                .onMessage(Wake.class, this::onWake)
                .onMessage(AskForRecord.class, this::onAskForRecord)
                .onMessage(Recorded.class, this::onRecorded)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .build();
    }

    /**
     * Timers of one instant fire in the order in which they are set: arrivals before everything that follows from them.
     */
    private Behavior<Command> onStart(Start now) {
        for (int index : run.additionOrder()) {
            long atNanos = run.requests().get(index).arrivalStep() * NANOS_PER_STEP;
            timers.startSingleTimer(index, new Arrive(index), Duration.ofNanos(atNanos));
        }
        long endNanos = (run.numSteps() + 2L) * NANOS_PER_STEP;
        timers.startSingleTimer(AskForRecord.NOW, AskForRecord.NOW, Duration.ofNanos(endNanos));
        return this;
    }

    private Behavior<Command> onArrive(Arrive arrive) {
        replica.tell(new Replica.AddRequest(run.request(arrive.index), requestEvents, false));
        return this;
    }

    private Behavior<Command> onDecided(Decided decided) {
        var step = decided.step;
        log.onPlanned(step);
        for (int i = 0; i < run.requests().size(); i++) {
            if (run.requests().get(i).abortStep() == step.step()) {
                replica.tell(new Replica.Abort(i));
            }
        }
        boolean mayPark = run.config().connector() != null && step.step() < run.numSteps();
        if (mayPark && step.plan().scheduled().isEmpty()) {
            // With one step in flight there is no other reason to plan in the next instant, with two there is a tick.
            long delayNanos = run.config().asyncScheduling() ? 0 : NANOS_PER_STEP;
            timers.startSingleTimer(Wake.NOW, Wake.NOW, Duration.ofNanos(delayNanos));
        }
        return this;
    }

    /** The engine waits after an empty plan until something happens; the recording's driver plans again. */
    private Behavior<Command> onWake(Wake now) {
        replica.tell(new KvBlockManager.KvArrived(LongList.of(), null));
        return this;
    }

    /** The replica's scheduler has given up the request already; now the replica itself does. */
    private Behavior<Command> onLoadFailed(LoadFailed failed) {
        log.onFinished(failed.step, failed.requestId);
        replica.tell(new Replica.Abort(failed.requestId));
        return this;
    }

    private Behavior<Command> onHeard(Heard heard) {
        if (heard.event instanceof RequestEvent.Finished finished && finished.reason() != FinishReason.ABORT) {
            long instant = finished.atNanos() / NANOS_PER_STEP;
            boolean isOneByOne = run.schedulerConfig().maxStepsInFlight() == 1;
            log.onFinished(isOneByOne ? instant - 1 : instant, finished.requestId());
        }
        return this;
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        observer.onFailed(failed.cause());
        return Behaviors.stopped();
    }

    private Behavior<Command> onAskForRecord(AskForRecord now) {
        planner.catchUp(run.numSteps());
        replica.tell(new Replica.GetRecord(getContext().messageAdapter(Replica.Recorded.class, Recorded::new)));
        return this;
    }

    private Behavior<Command> onRecorded(Recorded recorded) {
        var record = recorded.replicaRecord;
        var stats = record.value().stats();
        var end = RecordedRun.End.of(
                new IntImmutableList(planner.memory().freeOrder()),
                stats.numPreemptions(),
                stats.prefixCache(),
                planner.memory().externalStats(),
                planner.drafts());
        observer.onEnded(log.toRun(end, planner.kvEvents(), record.value().numUnfinished()));
        return this;
    }
}
