package understudy.workload.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import understudy.workload.files.TraceException;

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

    /** 16 MiB are 16,777,216 bytes; a break behind them is none of the line's. */
    @Test
    void lineOfMoreThan16MiB_isRefusedByItsNumber() {
        var longest = of("a\n" + "x".repeat(16_777_216) + "\n");
        assertThat(longest.next()).isTrue();
        assertThat(longest.next()).isTrue();
        assertThat(longest.length()).isEqualTo(16_777_216);

        var tooLong = of("a\n" + "x".repeat(16_777_217) + "\n");
        assertThat(tooLong.next()).isTrue();
        assertThatThrownBy(tooLong::next)
                .isInstanceOf(TraceException.class)
                .hasMessageEndingWith(":2: the line is longer than 16777216 bytes");
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
