package understudy.report.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import org.junit.jupiter.api.Test;

final class TraceWriterTest {

    /** 1,234,567 ns are 1234.567 µs. */
    @Test
    void times_areMicrosecondsToTheNanosecond() throws IOException {
        var out = new StringWriter();
        try (var trace = new TraceWriter(out)) {
            trace.slice(2, 1, "step", 1_234_567, 2_234_568, "tokens", 5);
        }

        var event =
                new ObjectMapper().readTree(out.toString()).get("traceEvents").get(0);
        assertThat(event.get("ts").asText()).isEqualTo("1234.567");
        assertThat(event.get("dur").asText()).isEqualTo("1000.001");
        assertThat(event.get("args").get("tokens").asInt()).isEqualTo(5);
    }

    @Test
    void sliceThatMayOverlap_beginsAndEndsUnderOneNumber() throws IOException {
        var out = new StringWriter();
        try (var trace = new TraceWriter(out)) {
            trace.asyncSlice(2, "kv", 17, "load", 1000, 3000);
        }

        assertThat(out.toString().lines())
                .contains(
                        "{\"ph\":\"b\",\"name\":\"load\",\"ts\":1.000,\"pid\":2,\"tid\":0,\"cat\":\"kv\",\"id\":\"2.17\"}",
                        ",{\"ph\":\"e\",\"name\":\"load\",\"ts\":3.000,\"pid\":2,\"tid\":0,\"cat\":\"kv\",\"id\":\"2.17\"}]}");
    }

    @Test
    void failure_showsAtTheEnd() {
        var trace = new TraceWriter(new Full());
        for (int i = 0; i < 100_000; i++) {
            trace.instant(1, 1, "event", i);
        }

        assertThatThrownBy(trace::close).isInstanceOf(IOException.class).hasMessage("full");
    }

    /** Has room for nothing. */
    private static final class Full extends Writer {
        @Override
        public void write(char[] text, int from, int length) throws IOException {
            throw new IOException("full");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
