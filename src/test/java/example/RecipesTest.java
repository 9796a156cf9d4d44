package example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.api.ServerFixture;
import understudy.latency.BatchShape;
import understudy.latency.Share;
import understudy.routing.RoutingFixture;
import understudy.settings.Hocon;
import understudy.workload.files.TraceException;
import understudy.workload.trace.TraceRow;

/** Recipes of the page for contributors: its code is that of files that compile, and its examples do what they say. */
final class RecipesTest {
    private static final Path PAGE = Path.of(".github/CONTRIBUTING.md");
    private static final Path MAIN = Path.of("src/main/java/understudy");
    private static final List<Path> ROOTS = List.of(Path.of("."), MAIN, Path.of("src/test/java/understudy"));
    private static final Pattern BLOCK = Pattern.compile("```(?:java|hocon)\n(.*?)```", Pattern.DOTALL);
    private static final Pattern ROW = Pattern.compile("^\\| `([^`]+\\.(?:java|conf))`.*", Pattern.MULTILINE);

    @TempDir
    private Path directory;

    static Stream<String> blocks() throws IOException {
        return BLOCK.matcher(recipes()).results().map(block -> block.group(1));
    }

    static Stream<String> rows() throws IOException {
        return ROW.matcher(recipes()).results().map(row -> row.group());
    }

    private static String recipes() throws IOException {
        String page = Files.readString(PAGE);
        return page.substring(page.indexOf("## Recipes"));
    }

    /** Indents and line breaks aside. */
    @ParameterizedTest
    @MethodSource("blocks")
    void code_isThatOfTheFileInItsFirstLine(String block) throws IOException {
        var lines = block.split("\n", 2);

        assertThat(lines[0]).matches("(//|#) .*");
        assertThat(words(Files.readString(file(lines[0].replaceFirst("^\\S+ ", "")))))
                .contains(words(lines[1]));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void fileOfATable_isThere_unlessItIsNew(String row) {
        int start = row.indexOf('`') + 1;
        String name = row.substring(start, row.indexOf('`', start));

        if (row.endsWith("(new) |")) {
            assertThat(MAIN.resolve(name)).doesNotExist();
        } else {
            assertThat(file(name)).exists();
        }
    }

    private static Path file(String name) {
        return ROOTS.stream()
                .map(root -> root.resolve(name))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no " + name));
    }

    private static String words(String code) {
        return code.replaceAll("\\s+", " ").strip();
    }

    @Test
    void twoChoices_comparesNeighboursInTurn() {
        var view = RoutingFixture.view(3);
        var policy = new TwoChoices();
        var request = RoutingFixture.request(0, 100, 20);
        view.onDispatched(0);

        // 0 and 1, 1 and 2, 2 and 0: replica 0 has one request, and of equals the first is taken.
        assertThat(List.of(policy.choose(request, view), policy.choose(request, view), policy.choose(request, view)))
                .containsExactly(1, 1, 2);
        assertThat(TwoChoices.FACTORY.name()).isEqualTo("two-choices");
    }

    @Test
    void plainReader_readsRows_andNamesTheLineOfABadOne() throws IOException {
        var file = Files.writeString(directory.resolve("a.csv"), "seconds,prompt,answer\n1.5,100,20\n2,none,20\n");

        try (var reader = new PlainReader(file)) {
            assertThat(reader.next()).isEqualTo(TraceRow.of(2, 1_500_000_000L, 100, 20));
            assertThatThrownBy(reader::next)
                    .isInstanceOf(TraceException.class)
                    .hasMessage(file + ":3: prompt is none, must be a whole number of at least 1");
        }
    }

    /** 1 ms, and 2 ms for each of the two tiles of 64 that 100 new tokens need: 5 ms. */
    @Test
    void tiledLatency_countsStartedTiles() {
        var model = TiledLatency.read(Hocon.text("per-step = 1ms, per-tile = 2ms, tile-tokens = 64", "test")
                .at("latency.tiled"));
        var batch = new BatchShape.Builder();
        batch.add(100, 0, true);

        assertThat(model.stepNanos(batch.build())).isEqualTo(5_000_000);
        assertThat(model.explain(batch.build())).containsExactly(new Share("step", 1e6), new Share("tiles", 4e6));
    }

    @Test
    void pauseRoutes_answer() {
        try (var server = new ServerFixture()) {
            server.parts = api -> List.of(new PauseRoutes());
            server.startAlone();

            assertThat(server.get("/is_paused").text()).isEqualTo("{\"is_paused\":false}");
        }
    }
}
