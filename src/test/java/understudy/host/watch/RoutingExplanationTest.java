package understudy.host.watch;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.cluster.ClusterEvent;
import understudy.routing.RoutingScores;

final class RoutingExplanationTest {
    private final RoutingExplanation explanation = new RoutingExplanation(2);

    /** Replica 1 has 59 blocks, and of the others, which have none, 2 has fewer requests; 3 takes none. */
    @Test
    void table_showsTheChosenAndTheBestOther() {
        explanation.on(decision(7, 1));

        assertThat(explanation.table().lines().toList().get(3))
                .containsSubsequence(
                        "0.250000",
                        "7",
                        "1",
                        "most cached",
                        "cached blocks 59, outstanding 4",
                        "2: cached blocks 0, outstanding 1");
    }

    @Test
    void csv_hasALineForEachPartAndReplica() throws IOException {
        explanation.on(decision(7, 1));
        var csv = new StringWriter();

        explanation.writeCsv(csv);

        assertThat(csv.toString().lines())
                .containsExactly(
                        "time_s,request,chosen_replica,rule,replica,part,value",
                        "0.250000000,7,1,\"most cached\",0,\"cached blocks\",0",
                        "0.250000000,7,1,\"most cached\",1,\"cached blocks\",59",
                        "0.250000000,7,1,\"most cached\",2,\"cached blocks\",0",
                        "0.250000000,7,1,\"most cached\",0,\"outstanding\",2",
                        "0.250000000,7,1,\"most cached\",1,\"outstanding\",4",
                        "0.250000000,7,1,\"most cached\",2,\"outstanding\",1");
    }

    @Test
    void onlyTheFirstDecisions_areKept() {
        for (int i = 0; i < 5; i++) {
            explanation.on(decision(i, 0));
        }

        // Three lines of frame, the head, and two decisions.
        assertThat(explanation.table().strip().lines()).hasSize(6);
    }

    private static ClusterEvent.Routed decision(long requestId, int replica) {
        var scores = new RoutingScores(
                "most cached",
                List.of(
                        new RoutingScores.Part("cached blocks", LongList.of(0, 59, 0, 80), true),
                        new RoutingScores.Part("outstanding", LongList.of(2, 4, 1, 0))));
        return new ClusterEvent.Routed(requestId, replica, 250_000_000, 100, IntList.of(0, 1, 2), scores);
    }
}
