package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ByteLinesTest {

    @Test
    void lines_areWhatIsBetweenBreaks() {
        assertThat(lines("a\nbc\n\nd")).containsExactly("a", "bc", "", "d");
        assertThat(lines("a\n")).containsExactly("a");
        assertThat(lines("\n")).containsExactly("");
        assertThat(lines("")).isEmpty();
    }

    @Test
    void byteOrderMark_isPassedOverOnTheFirstLineOnly() {
        assertThat(lines("\ufeffa\n\ufeffb")).containsExactly("a", "\ufeffb");
    }

    @Test
    void blankLine_hasNothingButSpace() {
        var lines = of(" \t\r\nx\n");

        assertThat(lines.next()).isTrue();
        assertThat(lines.isBlank()).isTrue();
        assertThat(lines.next()).isTrue();
        assertThat(lines.isBlank()).isFalse();
        assertThat(lines.number()).isEqualTo(2);
    }

    /** Lines that end at, before and behind the buffer's end, and some that are longer than it, which has 262,144 bytes. */
    @Test
    void lines_mayLieAnywhereInTheBuffer() {
        var random = new SplittableRandom(1);
        var text = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            text.append("x".repeat(random.nextInt(i % 10 == 0 ? 700_000 : 50_000)))
                    .append('\n');
        }

        assertThat(lines(text.toString())).isEqualTo(text.toString().lines().toList());
    }

    private static List<String> lines(String text) {
        var lines = of(text);
        var found = new ArrayList<String>();
        while (lines.next()) {
            found.add(new String(lines.bytes(), lines.start(), lines.length(), StandardCharsets.UTF_8));
        }
        return found;
    }

    private static ByteLines of(String text) {
        InputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        return new ByteLines(in, "f");
    }
}
