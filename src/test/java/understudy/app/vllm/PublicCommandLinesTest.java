package understudy.app.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Command lines of public guides: each makes a scenario, without a word that is unknown. */
final class PublicCommandLinesTest {
    private static final Path LINES = Path.of("src/test/resources/understudy/app/vllm/public-command-lines.txt");

    static Stream<String> lines() throws IOException {
        return Files.readAllLines(LINES).stream().filter(line -> !line.startsWith("#"));
    }

    @Test
    void lines_areManyDifferentOnes() throws IOException {
        assertThat(lines().toList()).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(60);
    }

    @ParameterizedTest
    @MethodSource("lines")
    void line_starts(String line) {
        List<String> words = VllmWords.split(line);

        var served = VllmSettings.of(words, Map.of()).start(VllmSettings.SCENARIO, Map.of(), Map.of());

        assertThat(served.scenario().numReplicas()).isPositive();
    }
}
