package understudy.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.settings.ScenarioException;

final class SweepJournalTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ObjectNode HEADER =
            JSON.createObjectNode().put("version", "1").put("x.conf", "abc");
    private static final PointResult FIRST = new PointResult(
            "a", Optional.empty(), false, JSON.createObjectNode().put("completed", 3));
    private static final PointResult SECOND = new PointResult("b", Optional.of(false), true, JSON.createObjectNode());

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void name() {
        file = directory.resolve("points.jsonl");
    }

    private void write(PointResult... results) throws IOException {
        try (var journal = new SweepJournal(file, HEADER)) {
            for (var result : results) {
                journal.add(result);
            }
        }
    }

    @Test
    void results_areKnownTheNextTime() throws IOException {
        write(FIRST, SECOND);

        try (var journal = new SweepJournal(file, HEADER)) {
            assertThat(journal.known()).containsOnlyKeys("a", "b").containsValues(FIRST, SECOND);
        }
    }

    @Test
    void tornLastLine_isDropped() throws IOException {
        write(FIRST);
        String whole = Files.readString(file);
        Files.writeString(file, whole + "{\"point\":\"b\",\"slo_m");

        write(SECOND);

        try (var journal = new SweepJournal(file, HEADER)) {
            assertThat(journal.known()).containsOnlyKeys("a", "b");
        }
        assertThat(Files.readString(file)).startsWith(whole);
    }

    @Test
    void tornFirstLine_isANewFile() throws IOException {
        Files.writeString(file, "{\"version\":");

        write(FIRST);

        try (var journal = new SweepJournal(file, HEADER)) {
            assertThat(journal.known()).containsOnlyKeys("a");
        }
    }

    @Test
    void resultsOfAnotherScenario_areRefused_andKept() throws IOException {
        write(FIRST);
        String before = Files.readString(file);
        var other = JSON.createObjectNode().put("version", "1").put("x.conf", "def");

        assertThatThrownBy(() -> new SweepJournal(file, other))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("has results of another sweep: x.conf is \"abc\", and now \"def\"");
        assertThat(Files.readString(file)).isEqualTo(before);
    }

    @Test
    void anotherFile_isRefused() throws IOException {
        Files.writeString(file, "a,b\n1,2\n");

        assertThatThrownBy(() -> new SweepJournal(file, HEADER))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("points.jsonl:1: not a line of a sweep's results");
    }

    @Test
    void lineThatIsNoResult_isRefused() throws IOException {
        write();
        Files.writeString(file, Files.readString(file) + "{\"a\":1}\n");

        assertThatThrownBy(() -> new SweepJournal(file, HEADER))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining("points.jsonl:2: not a line of a sweep's results");
    }
}
