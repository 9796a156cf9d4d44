package understudy.cluster.lockstep;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.engine.RankRules;
import understudy.latency.BatchShape;
import understudy.latency.CudaGraphs;
import understudy.latency.LatencyModel;
import understudy.testkit.VirtualTimeTestKit;

/** Two ranks: a prefill of one token, and a decode; a step takes 1 ms as a graph of decodes, and else 3 ms. */
final class DataParallelGroupTest {
    private static final long MILLI = 1_000_000;
    private static final CudaGraphs GRAPHS = CudaGraphs.ofDecodes(8);
    private static final LatencyModel LATENCY = batch -> GRAPHS.cover(batch, batch.numTokens()) ? MILLI : 3 * MILLI;

    @AutoClose
    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();

    private final VirtualTimeTestKit.Inbox<DataParallelGroup.Ran> first = kit.createInbox(DataParallelGroup.Ran.class);
    private final VirtualTimeTestKit.Inbox<DataParallelGroup.Ran> second = kit.createInbox(DataParallelGroup.Ran.class);

    private ActorRef<DataParallelGroup.Command> group(RankRules rules) {
        var group = kit.spawn(DataParallelGroup.create(kit.clock(), LATENCY, rules), "group");
        group.tell(new DataParallelGroup.Join(0));
        group.tell(new DataParallelGroup.Join(1));
        return group;
    }

    private static BatchShape oneToken() {
        var batch = new BatchShape.Builder();
        batch.add(1, 10, true);
        return batch.build();
    }

    /** The decode runs beside the prefill, kernel by kernel; the one after it as a graph. */
    @ParameterizedTest
    @CsvSource({"true, 3", "false, 1"})
    void decode_isNoGraphBesideAPrefill(boolean isPrefill, long millis) {
        var group = group(RankRules.NONE);

        group.tell(new DataParallelGroup.Submit(0, oneToken(), isPrefill, 1, first.ref()));
        group.tell(new DataParallelGroup.Submit(1, oneToken(), false, 1, second.ref()));
        group.tell(new DataParallelGroup.Submit(1, oneToken(), false, 1, second.ref()));
        kit.advance(Duration.ofMillis(10));

        assertThat(first.messages()).containsExactly(new DataParallelGroup.Ran(0, millis * MILLI, 0));
        assertThat(second.messages())
                .containsExactly(
                        new DataParallelGroup.Ran(0, millis * MILLI, 0),
                        new DataParallelGroup.Ran(millis * MILLI, (millis + 1) * MILLI, 1));
    }

    /** A rank whose steps take 5 ms longer makes the other one wait, also where it has nothing to run. */
    @Test
    void delayOfOneRank_isThatOfTheStep() {
        var group = group(RankRules.NONE);

        group.tell(new DataParallelGroup.SetDelay(1, 5 * MILLI));
        group.tell(new DataParallelGroup.Submit(0, oneToken(), false, 1, first.ref()));
        kit.advance(Duration.ofMillis(10));

        // 1 ms as the model says, and 5 ms.
        assertThat(first.messages()).containsExactly(new DataParallelGroup.Ran(0, 6 * MILLI, 0));
    }

    /** With drafts the decode waits for both prefills, of 3 ms each, and runs then. */
    @Test
    void decode_sitsOutTheStepsOfPrefills() {
        var group = group(new RankRules(null, false, true));

        group.tell(new DataParallelGroup.Submit(0, oneToken(), true, 1, first.ref()));
        group.tell(new DataParallelGroup.Submit(0, oneToken(), true, 1, first.ref()));
        group.tell(new DataParallelGroup.Submit(1, oneToken(), false, 1, second.ref()));
        kit.advance(Duration.ofMillis(10));

        assertThat(first.messages())
                .containsExactly(
                        new DataParallelGroup.Ran(0, 3 * MILLI, 0), new DataParallelGroup.Ran(3 * MILLI, 6 * MILLI, 1));
        assertThat(second.messages()).containsExactly(new DataParallelGroup.Ran(6 * MILLI, 7 * MILLI, 2));
    }
}
