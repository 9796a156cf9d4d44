package understudy.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Service levels of the fixture's requests: request 0 has a TTFT of 1 s, a TPOT of 1 s, an E2EL of 4 s; request 1 one
 * token after 3 s; request 2 was turned away. Their priorities are their numbers.
 */
final class GoodputTest {
    private static final long SECOND = ReportFixture.SECOND;
    private static final long OFF = ServiceLevels.Limits.OFF;
    private static final ServiceLevels JUST_MET = all(3 * SECOND, SECOND, 4 * SECOND);

    private final ReportFixture fixture = new ReportFixture();

    @Test
    void requestAtItsLimits_isGood() {
        var report = RunReport.of(fixture.run(), JUST_MET, 0);

        // Two of three, in 10 s.
        assertThat(report.goodput().classes())
                .containsExactly(new Goodput.ServiceClass(OptionalInt.empty(), 3, 2, 0.5));
        assertThat(report.requestGoodput()).isEqualTo(0.2);
    }

    /** Request 0 is the slower one but for the first token; an answer of one token has no TPOT to miss. */
    @ParameterizedTest
    @CsvSource({
        "2999999999, 1000000000, 4000000000",
        "3000000000, 999999999, 4000000000",
        "3000000000, 1000000000, 3999999999"
    })
    void requestAboveOneLimit_isNot(long ttftNanos, long tpotNanos, long e2elNanos) {
        assertThat(goodput(all(ttftNanos, tpotNanos, e2elNanos)).numGood()).isEqualTo(1);
    }

    @Test
    void failure_countsAsARequest_butNotWhatItsSenderGaveUp() {
        long[] soon = {8 * SECOND};
        fixture.log.addRequest(ReportFixture.request(3, 0, Outcome.FAILED, 8, 8, 8, soon));
        fixture.log.addRequest(ReportFixture.request(4, 0, Outcome.ABORTED, 8, 8, 8, soon));

        // Requests 0 to 3, of which 0 and 1 are good.
        assertThat(goodput(JUST_MET).classes())
                .containsExactly(new Goodput.ServiceClass(OptionalInt.empty(), 4, 2, 0.5));
    }

    @Test
    void classes_areCountedApart() {
        var levels = levels(Map.of(1, limits(3 * SECOND, OFF, OFF, 1)), limits(SECOND / 2, OFF, OFF, 0.5));

        // Request 1 has 3 s, and takes them; requests 0 and 2 share a limit that request 0 exceeds.
        assertThat(goodput(levels))
                .isEqualTo(new Goodput(
                        1,
                        List.of(
                                new Goodput.ServiceClass(OptionalInt.of(1), 1, 1, 1),
                                new Goodput.ServiceClass(OptionalInt.empty(), 2, 0, 0.5))));
    }

    @Test
    void classWithoutLimits_isNotJudged_butItsAnswersAreGood() {
        var levels = levels(Map.of(0, limits(OFF, OFF, OFF, 1)), limits(3 * SECOND, OFF, OFF, 0.5));

        // Requests 0 and 1 are good, of which 0 is in no class; 2 was turned away.
        assertThat(goodput(levels))
                .isEqualTo(new Goodput(2, List.of(new Goodput.ServiceClass(OptionalInt.empty(), 2, 1, 0.5))));
    }

    @ParameterizedTest
    @CsvSource({"100, 7, 0.07, true", "100, 6, 0.07, false", "0, 0, 1, true", "5, 5, 1, true"})
    void attainmentEqualToWhatIsWanted_isMet(long numRequests, long numGood, double wanted, boolean isMet) {
        assertThat(new Goodput.ServiceClass(OptionalInt.empty(), numRequests, numGood, wanted).isMet())
                .isEqualTo(isMet);
    }

    @Test
    void json_hasGoodputAndClasses() throws IOException {
        var json = new ObjectMapper().readTree(json(levels(Map.of(1, limits(OFF, OFF, 1, 0.9)), JUST_MET.others())));

        // Request 0 is good, in 10 s. One in two is as many as are wanted.
        assertThat(json.get("request_goodput").asDouble()).isEqualTo(0.1);
        assertThat(json.get("service_levels").toString())
                .isEqualTo(
                        "[{\"priority\":1,\"requests\":1,\"good\":0,\"attainment\":0.0,\"wanted\":0.9,\"met\":false},"
                                + "{\"priority\":null,\"requests\":2,\"good\":1,\"attainment\":0.5,\"wanted\":0.5,\"met\":true}]");
    }

    @Test
    void text_hasGoodputAndClasses() {
        var levels = levels(Map.of(1, limits(OFF, OFF, 1, 0.9)), JUST_MET.others());

        assertThat(RunResult.of(RunReport.of(fixture.run(), levels, 0), new RequestLog(false), ReportFixture.host())
                        .text())
                .contains("Request goodput (req/s):                 0.10      \n")
                .contains("| Priority | Requests | Good | Attainment | Wanted | SLO    |\n")
                .contains("|        1 |        1 |    0 |     0.0000 |    0.9 | missed |\n")
                .contains("|      any |        2 |    1 |     0.5000 |    0.5 | met    |\n");
    }

    @Test
    void reportWithoutServiceLevels_saysNothingOfThem() {
        assertThat(goodput(ServiceLevels.NONE)).isEqualTo(new Goodput(0, List.of()));
        assertThat(json(ServiceLevels.NONE)).doesNotContain("goodput", "service_levels");
        assertThat(RunResult.of(fixture.report(), new RequestLog(false), ReportFixture.host())
                        .text())
                .doesNotContain("goodput", "Priority");
    }

    private String json(ServiceLevels levels) {
        var run = fixture.run();
        return RunResult.of(RunReport.of(run, levels, 0), run.requests(), ReportFixture.host())
                .indentedJson();
    }

    private Goodput goodput(ServiceLevels levels) {
        return Goodput.of(fixture.log.requests(), levels);
    }

    /** Half of the requests must meet these. */
    private static ServiceLevels all(long ttftNanos, long tpotNanos, long e2elNanos) {
        return levels(Map.of(), limits(ttftNanos, tpotNanos, e2elNanos, 0.5));
    }

    private static ServiceLevels levels(Map<Integer, ServiceLevels.Limits> byPriority, ServiceLevels.Limits others) {
        return new ServiceLevels(new TreeMap<>(byPriority), others);
    }

    private static ServiceLevels.Limits limits(long ttftNanos, long tpotNanos, long e2elNanos, double attainment) {
        return new ServiceLevels.Limits(ttftNanos, tpotNanos, e2elNanos, attainment);
    }
}
