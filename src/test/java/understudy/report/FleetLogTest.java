package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import understudy.report.FleetStats.Point;

final class FleetLogTest {
    private static final long MINUTE = 60_000_000_000L;

    @Test
    void hoursCountFromTheStartOfAReplicaToItsEnd() {
        var log = new FleetLog();
        log.add(new Point(0, 2, 0), 2);
        log.add(new Point(30 * MINUTE, 2, 2), 4);
        log.add(new Point(60 * MINUTE, 4, 0), 4);
        // One is removed, and takes 6 minutes to finish its requests.
        log.add(new Point(90 * MINUTE, 3, 0), 4);
        log.add(new Point(96 * MINUTE, 3, 0), 3);

        var stats = log.stats(120 * MINUTE, 2, 3);

        // 2 x 30 + 4 x 66 + 3 x 24 = 396 minutes = 6.6 hours; with 2 GPUs each 13.2, at 3 an hour 39.6.
        assertThat(stats.replicaHours()).isCloseTo(6.6, within(1e-9));
        assertThat(stats.gpuHours()).isCloseTo(13.2, within(1e-9));
        assertThat(stats.cost()).isCloseTo(39.6, within(1e-9));
        assertThat(stats.costPerMillionTokens(4_000_000)).isCloseTo(9.9, within(1e-9));
        assertThat(stats.maxReplicas()).isEqualTo(4);
        assertThat(stats.history())
                .containsExactly(
                        new Point(0, 2, 0),
                        new Point(30 * MINUTE, 2, 2),
                        new Point(60 * MINUTE, 4, 0),
                        new Point(90 * MINUTE, 3, 0));
    }

    @Test
    void changesOfOneInstantAreOne() {
        var log = new FleetLog();
        log.add(new Point(0, 1, 0), 1);
        log.add(new Point(MINUTE, 1, 1), 2);
        log.add(new Point(MINUTE, 1, 2), 3);
        log.add(new Point(2 * MINUTE, 1, 3), 4);
        log.add(new Point(2 * MINUTE, 1, 2), 3);

        assertThat(log.stats(2 * MINUTE, 1, 0).history()).containsExactly(new Point(0, 1, 0), new Point(MINUTE, 1, 2));
    }

    @Test
    void reports_haveTheFleetOnlyIfItIsAskedFor() {
        var fixture = new ReportFixture();
        assertThat(RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                        .text())
                .doesNotContain("GPU hours");
        assertThat(json(fixture)).doesNotContain("\"fleet\"");

        var history = List.of(new Point(0, 2, 0), new Point(10 * MINUTE, 2, 1));
        fixture.fleet = Optional.of(new FleetStats(1.5, 3, 2, history));

        // 3 GPU hours at 2 are 6, for 5 answer tokens.
        assertThat(RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                        .text())
                .containsPattern("Most replicas at a time: +3 ")
                .containsPattern("GPU hours: +3.00 ")
                .containsPattern("Cost per million generated tokens: +1200000.00")
                .contains("|    600 |     2 |        1 | ##+      |");
        assertThat(json(fixture))
                .contains("\"gpu_hours\" : 3.0", "\"cost\" : 6.0", "\"at_s\" : 600.0", "\"starting\" : 1");
    }

    private static String json(ReportFixture fixture) {
        return RunResult.of(fixture.report(), fixture.log.requests(), ReportFixture.host())
                .indentedJson();
    }
}
