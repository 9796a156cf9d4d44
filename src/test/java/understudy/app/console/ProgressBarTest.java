package understudy.app.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class ProgressBarTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    @Test
    void line_showsShareVirtualTimeAndSpeedUp() {
        var bar = new ProgressBar(new StatusLine(out, true), OptionalLong.of(200));

        // 50 of 200 requests fill 7 of 30 characters; 3725 virtual seconds in 5 s are 745 times real time.
        assertThat(bar.line(50, 3_725, 5))
                .isEqualTo(
                        "[#######-----------------------] 50/200 requests, 1:02:05 of virtual time, 745 x real time");
    }

    @Test
    void unknownTotal_isLeftOut() {
        assertThat(new ProgressBar(new StatusLine(out, true), OptionalLong.empty()).line(50, 60, 0))
                .isEqualTo("50 requests, 0:01:00 of virtual time, 0 x real time");
    }

    @Test
    void invisibleBar_printsNothing() {
        var bar = new ProgressBar(new StatusLine(out, false), OptionalLong.empty());

        bar.draw(1, 1, 1);
        bar.clear();

        assertThat(bytes.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void visibleBar_drawsOverItself() {
        var bar = new ProgressBar(new StatusLine(out, true), OptionalLong.empty());

        bar.draw(1, 1, 1);
        bar.clear();

        assertThat(bytes.toString(StandardCharsets.UTF_8)).startsWith("\r").endsWith("\r\u001b[K");
    }
}
