package understudy.cluster.run;

import java.util.Collections;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import understudy.cluster.Autoscaler;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.faults.FleetChange;
import understudy.faults.ReplicaState;
import understudy.report.Outcome;
import understudy.runtime.Clock;
import understudy.scaling.ScalingRule;
import understudy.scaling.ScalingSignals;
import understudy.scaling.ScalingSpec;
import understudy.scaling.Stabilization;

/** Autoscaler of a cluster: signals from its events, and a rule that is asked at fixed intervals. */
public final class AutoscalerActor extends AbstractBehavior<Autoscaler.Command> {
    private final Clock clock;
    private final ScalingSpec spec;
    private final ScalingRule rule;
    private final ScalingSignals signals;
    private final Stabilization stabilization;
    private final ActorRef<Cluster.Command> cluster;

    private AutoscalerActor(
            ActorContext<Autoscaler.Command> context,
            Clock clock,
            ScalingSpec spec,
            int numReplicas,
            ActorRef<Cluster.Command> cluster) {
        super(context);
        this.clock = clock;
        this.spec = spec;
        this.cluster = cluster;
        rule = spec.rule().orElseThrow().get();
        signals = new ScalingSignals(Collections.nCopies(numReplicas, ReplicaState.READY), spec.ttftWindowNanos());
        stabilization = new Stabilization(spec.behavior(), numReplicas);
        evaluateLater();
    }

    /** Creates the autoscaler of a cluster that begins with so many replicas; the specification must have a rule. */
    public static Behavior<ClusterEvent> create(
            Clock clock, ScalingSpec spec, int numReplicas, ActorRef<Cluster.Command> cluster) {
        Behavior<Autoscaler.Command> autoscaler =
                Behaviors.setup(context -> new AutoscalerActor(context, clock, spec, numReplicas, cluster));
        return Behaviors.transformMessages(
                ClusterEvent.class, autoscaler, events -> events.match(ClusterEvent.class, Autoscaler.Happened::new));
    }

    @Override
    public Receive<Autoscaler.Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(Autoscaler.Happened.class, happened -> onEvent(happened.event()))
                .onMessage(Autoscaler.Evaluate.class, now -> onEvaluate())
                .build();
    }

    private Behavior<Autoscaler.Command> onEvent(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            onStep(step);
        } else if (event instanceof ClusterEvent.LoadChanged load) {
            onLoad(load.replicaIndex(), load.load());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            signals.onKvUsage(changed.replicaIndex(), changed.kvCache().usage());
        } else if (event instanceof ClusterEvent.Routed routed) {
            signals.onRouted(routed.requestId(), routed.numUncachedTokens());
        } else if (event instanceof ClusterEvent.RequestEnded request) {
            signals.onEnded(request.ended().requestId());
        } else if (event instanceof ClusterEvent.RequestsHeld held) {
            signals.onHeld(held.numRequests());
        } else if (event instanceof ClusterEvent.ReplicasChanged replicas) {
            signals.onStates(replicas.states());
        }
        return this;
    }

    private void onStep(ClusterEvent.StepEnded step) {
        var first = step.firstTokens();
        for (int i = 0; i < first.requestIds().size(); i++) {
            signals.onFirstToken(
                    first.requestIds().getLong(i),
                    step.endNanos(),
                    first.ttftNanos().getLong(i));
        }
        for (int i = 0; i < first.resumedIds().size(); i++) {
            signals.onPrefilled(first.resumedIds().getLong(i));
        }
        for (var request : step.ended()) {
            if (request.outcome() != Outcome.PREFILL_LEG) {
                signals.onEnded(request.requestId());
            }
        }
        onLoad(step.replicaIndex(), step.load());
    }

    private void onLoad(int replica, ClusterEvent.EngineLoad load) {
        signals.onLoad(replica, load.numWaiting(), load.numRunning());
    }

    private Behavior<Autoscaler.Command> onEvaluate() {
        var metrics = signals.metrics(clock.nowNanos());
        int now = metrics.numReplicas();
        int next = stabilization.next(metrics.atNanos(), now, rule.desired(metrics));
        Collections.nCopies(Math.max(0, next - now), new FleetChange.Add()).forEach(this::change);
        signals.leaving(Math.max(0, now - next)).forEach(replica -> change(new FleetChange.Remove(replica)));
        evaluateLater();
        return this;
    }

    /**
     * Asks for a change; one that is refused, since a replica has just crashed, is made up for at the next evaluation.
     */
    private void change(FleetChange change) {
        cluster.tell(new Cluster.Inject(change, getContext().getSystem().ignoreRef()));
    }

    private void evaluateLater() {
        clock.tellAfter(spec.intervalNanos(), getContext().getSelf(), Autoscaler.Evaluate.NOW);
    }
}
