package understudy.cluster.device;

import java.util.Arrays;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ExtensibleBehavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.VirtualGpu;
import understudy.cluster.lockstep.EarlierStages;
import understudy.cluster.lockstep.StageTimes;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.latency.LatencyModel;
import understudy.runtime.Clock;
import understudy.settings.Durations;

/** Device of a replica that steps alone. Messages are told apart by type tests: it handles one in every step. */
public final class ModelledGpu extends ExtensibleBehavior<VirtualGpu.Command> {
    private final Clock clock;
    private final LatencyModel latency;
    private final @Nullable SyntheticDrafts drafts;
    private final EarlierStages earlier;
    private final StageTimes stages;
    private double slowdown = 1;
    private long delayNanos;

    /** The step sent last: its time as the model says, when it runs, and the receiver of its end. */
    private long modelNanos;

    private long earlierNanos;
    private long startNanos;
    private long endNanos;
    private ActorRef<? super VirtualGpu.StepDone> replyTo;
    private DraftOutput output = DraftOutput.NONE;

    /** Timers that announce the ends of the steps sent last, in turn. */
    private final Cancellable[] done;

    private int numSteps;

    private ModelledGpu(
            ActorContext<VirtualGpu.Command> context,
            Clock clock,
            LatencyModel latency,
            @Nullable SyntheticDrafts drafts,
            EarlierStages earlier) {
        this.clock = clock;
        this.latency = latency;
        this.drafts = drafts;
        this.earlier = earlier;
        stages = new StageTimes(earlier.count() + 1);
        done = new Cancellable[earlier.count() + 2];
        Arrays.fill(done, Cancellable.alreadyCancelled());
        replyTo = context.getSystem().ignoreRef();
    }

    /** Creates an idle device. */
    public static Behavior<VirtualGpu.Command> create(Clock clock, LatencyModel latency) {
        return create(clock, latency, null, EarlierStages.NONE);
    }

    static Behavior<VirtualGpu.Command> create(
            Clock clock, LatencyModel latency, @Nullable SyntheticDrafts drafts, EarlierStages earlier) {
        return Behaviors.setup(context -> new ModelledGpu(context, clock, latency, drafts, earlier));
    }

    @Override
    public Behavior<VirtualGpu.Command> receive(
            TypedActorContext<VirtualGpu.Command> context, VirtualGpu.Command command) {
        if (command instanceof VirtualGpu.ExecuteStep step) {
            onExecuteStep(step);
        } else if (command instanceof VirtualGpu.SetSlowdown set) {
            slowdown = set.factor();
            reschedule();
        } else if (command instanceof VirtualGpu.SetDelay set) {
            delayNanos = set.nanos();
            reschedule();
        } else if (command instanceof VirtualGpu.GroupRan) {
            return Behaviors.unhandled(); // a device by itself has no group
        }
        return this;
    }

    @Override
    public Behavior<VirtualGpu.Command> receiveSignal(TypedActorContext<VirtualGpu.Command> context, Signal signal) {
        if (signal instanceof PostStop) {
            for (var each : done) {
                each.cancel();
            }
        }
        return Behaviors.unhandled();
    }

    private void onExecuteStep(VirtualGpu.ExecuteStep step) {
        long nowNanos = clock.nowNanos();
        numSteps++;
        modelNanos = latency.stepNanos(step.batch());
        earlierNanos = earlier.latency().stepNanos(step.batch());
        startNanos = stages.enter(nowNanos);
        replyTo = step.replyTo();
        output = drafts == null ? DraftOutput.NONE : drafts.execute(step.numDrafts());
        schedule();
    }

    /** The step sent last takes as long as is said now if it has not begun. */
    private void reschedule() {
        if (startNanos > clock.nowNanos()) {
            done[numSteps % done.length].cancel();
            schedule();
        }
    }

    /** A step counts from when it enters the first stage, or from the end of the one before: steps do not overlap. */
    private void schedule() {
        endNanos = stages.leave(startNanos, slowed(earlierNanos), slowed(modelNanos) + delayNanos);
        var stepDone = new VirtualGpu.StepDone(Math.max(startNanos, stages.previousEndNanos()), endNanos, output);
        done[numSteps % done.length] = clock.tellAfter(endNanos - clock.nowNanos(), replyTo, stepDone);
    }

    private long slowed(long nanos) {
        long slowed = slowdown == 1 ? nanos : Math.max(1, Math.round(nanos * slowdown));
        return Math.min(slowed, Durations.MAX_NANOS);
    }
}
