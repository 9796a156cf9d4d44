package understudy.cluster.device;

import java.util.ArrayDeque;
import java.util.Deque;
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
import understudy.cluster.lockstep.DataParallelGroup;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.latency.JitteredLatency;

/** Device of a data-parallel rank: its steps are those of the group. */
final class GroupedGpu extends ExtensibleBehavior<VirtualGpu.Command> {
    private final int replicaIndex;
    private final ActorRef<DataParallelGroup.Command> group;
    private final ActorRef<DataParallelGroup.Ran> self;
    private final @Nullable JitteredLatency jittered;
    private final @Nullable SyntheticDrafts drafts;

    /** The batches that run and wait. */
    private final Deque<InFlight> inFlight = new ArrayDeque<>(2);

    private record InFlight(ActorRef<? super VirtualGpu.StepDone> replyTo, DraftOutput output) {}

    GroupedGpu(
            ActorContext<VirtualGpu.Command> context,
            int replicaIndex,
            ActorRef<DataParallelGroup.Command> group,
            @Nullable JitteredLatency jittered,
            @Nullable SyntheticDrafts drafts) {
        this.replicaIndex = replicaIndex;
        this.group = group;
        this.jittered = jittered;
        this.drafts = drafts;
        self = context.messageAdapter(DataParallelGroup.Ran.class, VirtualGpu.GroupRan::new);
        group.tell(new DataParallelGroup.Join(replicaIndex));
    }

    @Override
    public Behavior<VirtualGpu.Command> receive(
            TypedActorContext<VirtualGpu.Command> context, VirtualGpu.Command command) {
        if (command instanceof VirtualGpu.ExecuteStep step) {
            var output = drafts == null ? DraftOutput.NONE : drafts.execute(step.numDrafts());
            inFlight.add(new InFlight(step.replyTo(), output));
            double factor = jittered == null ? 1 : jittered.factor();
            group.tell(new DataParallelGroup.Submit(replicaIndex, step.batch(), step.isPrefill(), factor, self));
        } else if (command instanceof VirtualGpu.GroupRan ran) {
            var done = inFlight.remove();
            done.replyTo.tell(new VirtualGpu.StepDone(
                    ran.step().startNanos(),
                    ran.step().endNanos(),
                    done.output,
                    ran.step().number()));
        } else if (command instanceof VirtualGpu.SetSlowdown set) {
            group.tell(new DataParallelGroup.SetSlowdown(replicaIndex, set.factor()));
        } else if (command instanceof VirtualGpu.SetDelay set) {
            group.tell(new DataParallelGroup.SetDelay(replicaIndex, set.nanos()));
        }
        return this;
    }

    @Override
    public Behavior<VirtualGpu.Command> receiveSignal(TypedActorContext<VirtualGpu.Command> context, Signal signal) {
        if (signal instanceof PostStop) {
            group.tell(new DataParallelGroup.Leave(replicaIndex));
        }
        return Behaviors.unhandled();
    }
}
