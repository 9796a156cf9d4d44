package understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterEventStepEndedBuilder;
import understudy.cluster.ListWorkload;
import understudy.engine.Request;
import understudy.engine.speculation.DraftCounts;
import understudy.faults.FleetChange;
import understudy.figure.OwnFigures;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.routing.RoutingScores;
import understudy.scaling.ScalingBehavior;
import understudy.scaling.ScalingMetrics;
import understudy.scaling.ScalingSpec;
import understudy.testkit.VirtualTimeTestKit;
import understudy.testkit.VirtualTimeTestKit.Inbox;

/** An autoscaler on its own, which is told of a cluster of two replicas by hand, and evaluates every 100 ms. */
final class AutoscalerSignalsTest {
    private static final long MILLI = 1_000_000;
    private static final ScalingBehavior.Pace AT_ONCE = new ScalingBehavior.Pace(0, 1e6, 0, MILLI);

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final List<ScalingMetrics> seen = new ArrayList<>();
    private final Inbox<Cluster.Command> cluster = kit.createInbox(Cluster.Command.class);
    private int numWanted = 2;
    private ActorRef<ClusterEvent> autoscaler;

    @BeforeEach
    void start() {
        var spec = new ScalingSpec(
                Optional.of(() -> metrics -> {
                    seen.add(metrics);
                    return numWanted;
                }),
                new ScalingBehavior(1, 10, AT_ONCE, AT_ONCE),
                100 * MILLI,
                1000 * MILLI,
                0,
                1,
                0);
        autoscaler = kit.spawn(AutoscalerActor.create(kit.clock(), spec, 2, cluster.ref()), "autoscaler");
    }

    /** Returns what the next evaluation sees. */
    private ScalingMetrics evaluated() {
        kit.advance(Duration.ofMillis(100));
        return seen.get(seen.size() - 1);
    }

    private void routed(long requestId, int numTokens) {
        autoscaler.tell(new ClusterEvent.Routed(
                requestId, 0, kit.nowNanos(), numTokens, IntList.of(0, 1), new RoutingScores("", List.of())));
    }

    private void stepEnded(int replica, RequestRecord... ended) {
        autoscaler.tell(ClusterEventStepEndedBuilder.builder()
                .replicaIndex(replica)
                .startNanos(kit.nowNanos())
                .endNanos(kit.nowNanos())
                .numRequests(1)
                .numTokens(1)
                .numSampled(1)
                .drafts(DraftCounts.NONE)
                .gapNanos(LongList.of())
                .gapCounts(IntList.of())
                .ended(List.of(ended))
                .firstTokens(ClusterEvent.FirstTokens.NONE)
                .load(ClusterEvent.EngineLoad.NONE)
                .own(OwnFigures.NONE)
                .build());
    }

    private RequestRecord ended(long requestId, Outcome outcome) {
        Request request = ListWorkload.request(requestId, 0, 500, 1);
        return RequestRecord.ended(request, request.progress(), 0, outcome, kit.nowNanos());
    }

    /** The prompt is computed on one replica, but its first token comes from the other one. */
    @Test
    void prefillLeg_isNotTheEndOfItsRequest() {
        routed(1, 500);
        routed(2, 30);
        assertThat(evaluated().inflightTokens()).isEqualTo(530);

        stepEnded(0, ended(1, Outcome.PREFILL_LEG));
        assertThat(evaluated().inflightTokens()).isEqualTo(530);

        stepEnded(1, ended(1, Outcome.COMPLETED));
        assertThat(evaluated().inflightTokens()).isEqualTo(30);
        autoscaler.tell(new ClusterEvent.RequestEnded(ended(2, Outcome.ABORTED)));
        assertThat(evaluated().inflightTokens()).isZero();
    }

    @Test
    void numberOfReplicas_isThatOfTheRule() {
        evaluated();
        assertThat(cluster.messages()).isEmpty();

        numWanted = 3;
        evaluated();
        assertThat(changes()).containsExactly(new FleetChange.Add());
        numWanted = 1;
        evaluated();
        assertThat(changes()).containsExactly(new FleetChange.Add(), new FleetChange.Remove(1));
    }

    private List<Object> changes() {
        return cluster.messages().stream()
                .map(message -> (Object) ((Cluster.Inject) message).change())
                .toList();
    }
}
