package understudy.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class SweepRowTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static SweepRow row(double... values) {
        var runs = DoubleStream.of(values).mapToObj(SweepRowTest::run).toList();
        return new SweepRow(new SweepPoint("x", Map.of()), runs, List.of(), Optional.empty());
    }

    private static PointResult run(double value) {
        var figures = JSON.createObjectNode();
        figures.putObject("outer").put("inner", value);
        return new PointResult("x", Optional.empty(), false, figures);
    }

    /** Of 1, 2 and 3 the deviation is 1 and the error 1 / sqrt(3); t for 2 degrees of freedom is 4.30265. */
    @Test
    void severalSeeds_haveMeanAndConfidence() {
        var figure = row(1, 2, 3).figure("outer.inner").orElseThrow();

        assertThat(figure.mean()).isEqualTo(2);
        assertThat(figure.halfWidth()).isCloseTo(4.30265 / Math.sqrt(3), within(1e-5));
    }

    @Test
    void oneSeed_hasNoConfidence() {
        assertThat(row(5).figure("outer.inner").orElseThrow().halfWidth()).isNaN();
    }

    @Test
    void figureThatARunHasNot_isNone() {
        var runs = List.of(run(1), new PointResult("x", Optional.of(false), true, JSON.createObjectNode()));
        var row = new SweepRow(new SweepPoint("x", Map.of()), runs, List.of(), Optional.empty());

        assertThat(row.figure("outer.inner")).isEmpty();
        assertThat(row(1).figure("outer")).isEmpty();
    }

    @Test
    void serviceLevel_isKeptIfAllRunsDo() {
        var kept = new PointResult("x", Optional.of(true), false, JSON.createObjectNode());
        var missed = new PointResult("x", Optional.of(false), false, JSON.createObjectNode());
        var point = new SweepPoint("x", Map.of());

        assertThat(new SweepRow(point, List.of(kept, kept), List.of(), Optional.empty()).meetsSlo())
                .contains(true);
        assertThat(new SweepRow(point, List.of(kept, missed), List.of(), Optional.empty()).meetsSlo())
                .contains(false);
        assertThat(row(1).meetsSlo()).isEmpty();
    }

    /** (10, 1) and (5, 5) beat nobody's both; (5, 4) loses to (5, 5), and (4, 5) does, too. */
    @Test
    void paretoFront_hasWhatNobodyBeats() {
        var rows = List.of(point(10, 1), point(5, 4), point(5, 5), point(4, 5), point(1, 9));

        assertThat(ParetoFront.of(rows)).containsExactly(rows.get(0), rows.get(2), rows.get(4));
    }

    private static SweepRow point(double perUser, double perGpu) {
        var figures = JSON.createObjectNode().put(ParetoFront.PER_USER, perUser).put(ParetoFront.PER_GPU, perGpu);
        return new SweepRow(
                new SweepPoint("x", Map.of()),
                List.of(new PointResult("x", Optional.empty(), false, figures)),
                List.of(),
                Optional.empty());
    }
}
