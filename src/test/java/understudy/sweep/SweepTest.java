package understudy.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sweeps whose runs are made up. */
final class SweepTest {
    @TempDir
    private Path directory;

    private final List<String> submitted = new ArrayList<>();

    /** Answers at once; a run keeps its level if its settings say so. */
    private class Answering implements PointExecutor {
        private final Predicate<SweepPoint> isGood;

        Answering(Predicate<SweepPoint> isGood) {
            this.isGood = isGood;
        }

        @Override
        public CompletableFuture<PointResult> submit(SweepPoint point) {
            submitted.add(point.name());
            return CompletableFuture.completedFuture(new PointResult(
                    point.name(), Optional.of(isGood.test(point)), false, new ObjectMapper().createObjectNode()));
        }

        @Override
        public void stop() {}

        @Override
        public void close() {}
    }

    private SweepRow search(Search search, List<Long> seeds, Predicate<SweepPoint> isGood) {
        var plan = new SweepPlan(List.of("x"), List.of(), seeds, Optional.of(search));
        return new Sweep(plan, new Answering(isGood), null).start().get(0).join();
    }

    private static double value(SweepPoint point) {
        return Double.parseDouble(point.settings().get("k"));
    }

    /** Of 1 to 100: 1 and 100, and then 50, 75, 62, 68, 71, 69, 70. */
    @Test
    void highestWholeNumber_isFoundExactly() {
        var row = search(Search.parse("k=1..100", true, 0.01), List.of(), point -> value(point) <= 70);

        assertThat(row.point().settings()).containsEntry("k", "70");
        assertThat(row.border()).contains(SweepRow.Border.FOUND);
        assertThat(row.tried())
                .extracting(SweepRow.Trial::value)
                .containsExactly("1", "100", "50", "75", "62", "68", "71", "69", "70");
        assertThat(submitted).hasSize(9);
    }

    @Test
    void lowestWholeNumber_isFoundExactly() {
        var row = search(Search.parse("k=1..64", false, 0.01), List.of(), point -> value(point) >= 9);

        assertThat(row.point().settings()).containsEntry("k", "9");
    }

    @Test
    void realNumber_isFoundAsCloseAsWanted() {
        var row = search(
                Search.parse("my.rate=1..200", true, 0.01),
                List.of(),
                point -> Double.parseDouble(point.settings().get("my.rate")) <= 33.3);

        assertThat(Double.parseDouble(row.point().settings().get("my.rate"))).isBetween(33.3 * 0.99, 33.3);
    }

    @Test
    void ends_tellWhereTheBorderIs() {
        var search = Search.parse("k=1..100", true, 0.01);

        assertThat(search(search, List.of(), point -> true).border()).contains(SweepRow.Border.BEYOND);
        assertThat(search(search, List.of(), point -> true).point().settings()).containsEntry("k", "100");
        assertThat(search(search, List.of(), point -> false).border()).contains(SweepRow.Border.NOWHERE);
    }

    @Test
    void allSeeds_mustKeepTheLevel() {
        var row = search(
                Search.parse("k=1..100", true, 0.01),
                List.of(1L, 2L),
                point -> value(point) <= (point.settings().get("seed").equals("1") ? 70 : 40));

        assertThat(row.point().settings()).containsEntry("k", "40").doesNotContainKey("seed");
        assertThat(row.runs()).hasSize(2);
        assertThat(row.meetsSlo()).contains(true);
    }

    /** Of four runs two are in the file: they are not run again, but stand in the rows like the others. */
    @Test
    void sweepThatGoesOn_runsWhatIsMissing() throws IOException {
        var plan = new SweepPlan(List.of("x"), List.of(Variation.parse("k=1,2")), List.of(1L, 2L), Optional.empty());
        var points = plan.combinations().stream()
                .flatMap(point -> plan.withSeeds(point).stream())
                .toList();
        var file = directory.resolve("points.jsonl");
        var header = new ObjectMapper().createObjectNode();
        try (var journal = new SweepJournal(file, header)) {
            for (int known : new int[] {0, 3}) {
                journal.add(new PointResult(
                        points.get(known).name(),
                        Optional.of(false),
                        false,
                        new ObjectMapper().createObjectNode().put("completed", 7)));
            }
        }

        List<SweepRow> rows;
        try (var sweep = new Sweep(plan, new Answering(point -> true), new SweepJournal(file, header))) {
            rows = sweep.start().stream().map(CompletableFuture::join).toList();
            assertThat(sweep.numKnown()).isEqualTo(2);
            assertThat(sweep.numDone()).isEqualTo(2);
        }

        assertThat(submitted)
                .containsExactly(points.get(1).name(), points.get(2).name());
        assertThat(rows).hasSize(2);
        assertThat(rows.stream().flatMap(row -> row.runs().stream()))
                .extracting(PointResult::name)
                .containsExactlyElementsOf(points.stream().map(SweepPoint::name).toList());
        assertThat(rows.stream().flatMap(row -> row.runs().stream()))
                .extracting(PointResult::isGood)
                .containsExactly(false, true, true, false);
        try (var journal = new SweepJournal(file, header)) {
            assertThat(journal.known()).hasSize(4);
        }
    }

    @Test
    void failedRun_failsItsRowAloneAndNoMoreBegin() {
        var plan = new SweepPlan(List.of("x"), List.of(Variation.parse("k=1,2")), List.of(), Optional.empty());
        var executor = new Answering(point -> true) {
            @Override
            public CompletableFuture<PointResult> submit(SweepPoint point) {
                return value(point) == 1
                        ? CompletableFuture.failedFuture(new IllegalStateException("broken"))
                        : super.submit(point);
            }

            @Override
            public void stop() {
                submitted.add("stopped");
            }
        };
        var sweep = new Sweep(plan, executor, null);

        var rows = sweep.start();

        assertThat(rows.get(0)).isCompletedExceptionally();
        assertThat(rows.get(1).join().runs()).hasSize(1);
        assertThat(submitted).containsOnlyOnce("stopped");
        assertThatIllegalStateException().isThrownBy(sweep::requireNoFailure).withMessage("broken");
    }
}
