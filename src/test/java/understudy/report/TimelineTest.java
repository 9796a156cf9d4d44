package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.report.ReportFixture.SECOND;

import java.io.IOException;
import java.io.StringWriter;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;

/** The timeline of the run of {@link ReportFixture}, which ends at 10 s. */
final class TimelineTest {
    private static final long OFF = ServiceLevels.Limits.OFF;

    /** Request 0 has its first token after 1 s, request 1 after 3 s. */
    private static final ServiceLevels LEVELS =
            new ServiceLevels(Collections.emptySortedMap(), new ServiceLevels.Limits(2 * SECOND, OFF, OFF, 1));

    private final ReportFixture fixture = new ReportFixture();

    @Test
    void events_countInTheIntervalOfTheirTime() {
        // Arrivals at 1 and 3 s; first tokens at 2 and 6 s; ends at 5 and 6 s; request 2 is turned away.
        // Tokens at 2, 3 | 4, 5, 6 s, and none in the 2 s that are left.
        fixture.log.addRequest(ReportFixture.request(3, 0, Outcome.FAILED, 8.0, 8.0, 8.0, new long[0]));

        var intervals = RunReport.of(fixture.run(), LEVELS, 4).timeline().intervals();

        assertThat(intervals).extracting(Timeline.Interval::startSeconds).containsExactly(0L, 4L, 8L);
        assertThat(intervals).extracting(Timeline.Interval::numArrived).containsExactly(2L, 1L, 1L);
        assertThat(intervals).extracting(Timeline.Interval::numCompleted).containsExactly(0L, 2L, 0L);
        assertThat(intervals).extracting(Timeline.Interval::numFailed).containsExactly(0L, 0L, 1L);
        assertThat(intervals).extracting(Timeline.Interval::numGood).containsExactly(0L, 1L, 0L);
        assertThat(intervals).extracting(Timeline.Interval::outputThroughput).containsExactly(2 / 4.0, 3 / 4.0, 0.0);
        assertThat(intervals).extracting(interval -> interval.ttft().p99Nanos()).containsExactly(1e9, 3e9, 0.0);
        assertThat(intervals).extracting(interval -> interval.ttft().count()).containsExactly(1L, 1L, 0L);
    }

    @Test
    void goodRequests_keepToTheLimitsOfTheirClass() {
        var byPriority = new TreeMap<Integer, ServiceLevels.Limits>();
        byPriority.put(1, new ServiceLevels.Limits(3 * SECOND, OFF, OFF, 1));
        var levels = new ServiceLevels(byPriority, LEVELS.others());

        // Request 1 has priority 1, and a TTFT of 3 s.
        assertThat(RunReport.of(fixture.run(), levels, 10).timeline().intervals())
                .extracting(Timeline.Interval::numGood)
                .containsExactly(2L);
    }

    @Test
    void failedRequest_countsWhenItFailed() {
        var failed = ReportFixture.request(3, 0, Outcome.FAILED, 1, 1, 1, new long[] {2 * SECOND});
        fixture.log.addRequest(RequestRecordBuilder.builder()
                .requestId(3)
                .outcome(Outcome.FAILED)
                .arrivalNanos(failed.arrivalNanos())
                .queuedNanos(failed.queuedNanos())
                .scheduledNanos(failed.scheduledNanos())
                .firstTokenNanos(failed.firstTokenNanos())
                .lastTokenNanos(failed.lastTokenNanos())
                .endNanos(9 * SECOND)
                .numPromptTokens(failed.numPromptTokens())
                .numCachedTokens(failed.numCachedTokens())
                .numOutputTokens(failed.numOutputTokens())
                .turn(failed.turn())
                .events(failed.events())
                .tokenNanos(failed.tokenNanos())
                .build());

        assertThat(timeline(4).intervals())
                .extracting(Timeline.Interval::numFailed)
                .containsExactly(0L, 0L, 1L);
    }

    @Test
    void whatHappensAtTheEnd_belongsToTheLastInterval() {
        fixture.log.addRequest(ReportFixture.request(3, 0, Outcome.COMPLETED, 1, 1, 1, new long[] {10 * SECOND}));
        fixture.log.addStep(0, 10 * SECOND, 1, 1);

        var intervals = timeline(5).intervals();

        // Tokens at 2, 3 and 4 s, and at 5, 6 and 10 s.
        assertThat(intervals).extracting(Timeline.Interval::numCompleted).containsExactly(0L, 3L);
        assertThat(intervals).extracting(Timeline.Interval::outputThroughput).containsExactly(3 / 5.0, 3 / 5.0);
    }

    @Test
    void readyReplicas_areTheFewestInAnInterval() {
        fixture.history = List.of(
                new FleetStats.Point(0, 4, 0),
                new FleetStats.Point(4 * SECOND, 3, 0),
                new FleetStats.Point(5 * SECOND, 2, 0),
                new FleetStats.Point(5 * SECOND + 1, 4, 0));

        // What lasts until an interval begins, or begins when it is over, is not in it.
        assertThat(timeline(2).intervals())
                .extracting(Timeline.Interval::numReady)
                .containsExactly(4, 4, 2, 4, 4);
        assertThat(timeline(5).intervals())
                .extracting(Timeline.Interval::numReady)
                .containsExactly(3, 2);
    }

    @Test
    void shortIntervals_areJoinedUntilThereAreFewEnough() {
        // Ten intervals of 1 s are four at most if each is 3 s long.
        assertThat(Timeline.of(fixture.run(), LEVELS, 1, 4).intervals())
                .extracting(Timeline.Interval::startSeconds)
                .containsExactly(0L, 3L, 6L, 9L);
        assertThat(Timeline.of(fixture.run(), LEVELS, 100, 4).intervals()).hasSize(1);
    }

    @Test
    void files_haveNothingWhereThereIsNothing() throws IOException {
        var csv = new StringWriter();
        TimelineReport.writeCsv(timeline(5), csv);

        assertThat(csv.toString().lines())
                .containsExactly(
                        "start_s,arrived,completed,failed,output_throughput,median_ttft_ms,p99_ttft_ms,ready_replicas",
                        "0,3,0,0,0.60,1000.00,1000.00,0",
                        "5,0,2,0,0.40,3000.00,3000.00,0");
        assertThat(json(8)).contains("\"timeline\" : [ {", "\"good\" : 1,", "\"p99_ttft_ms\" : null,");
    }

    /** Means over all steps of an interval, the largest of them, and nothing where there was no step. */
    @Test
    void figuresOfAFamily_areColumnsOfTheirOwn() throws IOException {
        fixture.log.course().add(0, own(0.5, 7));
        fixture.log.course().add(SECOND / 2, own(0.25, 9));
        fixture.log.course().add(3 * SECOND, own(0.75, 8));
        fixture.log.course().add(6 * SECOND, OwnFigures.NONE);
        var csv = new StringWriter();
        TimelineReport.writeCsv(timeline(5), csv);

        // (0.5 + 0.25 + 0.75) / 3
        assertThat(csv.toString().lines().map(line -> line.replaceFirst(".*,(.*,.*)", "$1")))
                .containsExactly("x_ratio,x_nodes", "0.5000,9", ",");
    }

    private static OwnFigures own(double ratio, int numNodes) {
        return new OwnFigures(
                "x",
                List.of(OwnFigure.mean("ratio", "Ratio", ratio, 1), OwnFigure.largest("nodes", "Nodes", numNodes)));
    }

    @Test
    void withoutIntervals_nothingIsWritten() {
        assertThat(timeline(0).isOn()).isFalse();
        assertThat(json(0)).doesNotContain("timeline");
    }

    private String json(int intervalSeconds) {
        var report = RunReport.of(fixture.run(), LEVELS, intervalSeconds);
        return RunResult.of(report, new RequestLog(false), ReportFixture.host()).indentedJson();
    }

    private Timeline timeline(int intervalSeconds) {
        return RunReport.of(fixture.run(), ServiceLevels.NONE, intervalSeconds).timeline();
    }
}
