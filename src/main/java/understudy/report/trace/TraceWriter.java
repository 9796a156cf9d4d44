package understudy.report.trace;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;

/**
 * Writer of a trace in the <a
 * href="https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU">JSON format of Chrome</a>,
 * event by event, so that none is kept. Times are virtual; arguments are names and values in turn.
 *
 * <p>A failure to write shows when the trace is closed, since events come from where none could act upon it.
 */
public final class TraceWriter implements Closeable {
    private static final int DIGITS_OF_MICROS = 3;

    private final JsonGenerator json;
    private @Nullable IOException failure;

    /** Writes the fields of an event that only its kind has. */
    private interface Part {
        void write() throws IOException;
    }

    /** Begins a trace; {@code out} is closed with it. */
    public TraceWriter(Writer out) {
        try {
            json = Jackson.FACTORY.createGenerator(out);
            json.writeStartObject();
            json.writeStringField("displayTimeUnit", "ms");
            json.writeArrayFieldStart("traceEvents");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Names a process, which stands where its number has it. */
    public void process(int process, String name) {
        write("M", "process_name", 0, process, () -> {}, "name", name);
        write("M", "process_sort_index", 0, process, () -> {}, "sort_index", process);
    }

    public void thread(int process, int thread, String name) {
        write("M", "thread_name", 0, process, () -> json.writeNumberField("tid", thread), "name", name);
    }

    /** Writes a slice of a thread; slices of a thread lie in each other or beside each other. */
    public void slice(int process, int thread, String name, long startNanos, long endNanos, Object... args) {
        write(
                "X",
                name,
                startNanos,
                process,
                () -> {
                    json.writeNumberField("tid", thread);
                    json.writeNumberField("dur", micros(endNanos - startNanos));
                },
                args);
    }

    /** Writes a slice that may overlap others; slices of one number lie in each other. */
    public void asyncSlice(
            int process, String category, long number, String name, long startNanos, long endNanos, Object... args) {
        async("b", process, category, number, name, startNanos, args);
        async("e", process, category, number, name, endNanos);
    }

    private void async(
            String phase, int process, String category, long number, String name, long nanos, Object... args) {
        write(
                phase,
                name,
                nanos,
                process,
                () -> {
                    json.writeNumberField("tid", 0);
                    json.writeStringField("cat", category);
                    json.writeStringField("id", process + "." + number);
                },
                args);
    }

    public void instant(int process, int thread, String name, long nanos, Object... args) {
        write(
                "i",
                name,
                nanos,
                process,
                () -> {
                    json.writeNumberField("tid", thread);
                    json.writeStringField("s", "t");
                },
                args);
    }

    /** Writes the new values of a counter. */
    public void counter(int process, String name, long nanos, Object... values) {
        write("C", name, nanos, process, () -> {}, values);
    }

    private void write(String phase, String name, long nanos, int process, Part part, Object... args) {
        if (failure != null) {
            return;
        }
        try {
            json.writeRaw('\n');
            json.writeStartObject();
            json.writeStringField("ph", phase);
            json.writeStringField("name", name);
            json.writeNumberField("ts", micros(nanos));
            json.writeNumberField("pid", process);
            part.write();
            writeArgs(args);
            json.writeEndObject();
        } catch (IOException e) {
            failure = e;
        }
    }

    private void writeArgs(Object... args) throws IOException {
        if (args.length == 0) {
            return;
        }
        json.writeObjectFieldStart("args");
        for (int i = 0; i < args.length; i += 2) {
            json.writeObjectField((String) args[i], args[i + 1]);
        }
        json.writeEndObject();
    }

    private static BigDecimal micros(long nanos) {
        return BigDecimal.valueOf(nanos, DIGITS_OF_MICROS);
    }

    /** Ends the trace, or throws the failure that has kept it from being written. */
    @Override
    public void close() throws IOException {
        if (failure == null) {
            json.writeEndArray();
            json.writeEndObject();
            json.writeRaw('\n');
        }
        json.close();
        if (failure != null) {
            throw failure;
        }
    }
}
