package understudy.workload.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/** Formats of traces that are one file, by the names that settings have for them. */
public enum TraceFormat {
    MOONCAKE {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new JsonTraceReader(file);
        }
    },
    QWEN_BAILIAN {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new JsonTraceReader(file);
        }
    },
    /** Our own. */
    UNDERSTUDY {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new JsonTraceReader(file);
        }
    },
    CSV {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new CsvTraceReader(file, csvBlockTokens);
        }
    },
    AZURE {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new AzureTraceReader(file);
        }
    },
    BURSTGPT {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new BurstGptReader(file);
        }
    },
    VLLM_BENCH {
        @Override
        public TraceReader open(Path file, int csvBlockTokens) {
            return new BenchResultReader(file);
        }
    };

    /** Name of our own format in its header. */
    public static final String HEADER = "understudy-trace";

    public static final int VERSION = 1;

    private static final int NUM_START_BYTES = 4096;

    /**
     * Returns the format that a file looks like by its beginning; nothing if it is a tar archive.
     *
     * @throws TraceException if it looks like none of them
     */
    public static Optional<TraceFormat> detect(Path file) {
        String start = start(file);
        if (start.contains("\0")) {
            return Optional.empty();
        }
        String firstLine =
                start.lines().filter(line -> !line.isBlank()).findFirst().orElse("");
        if (firstLine.contains("\"" + HEADER + "\"")) {
            return Optional.of(UNDERSTUDY);
        }
        if (firstLine.startsWith("{")) {
            return Optional.of(jsonFormat(firstLine));
        }
        return Optional.of(csvFormat(firstLine, file));
    }

    private static TraceFormat jsonFormat(String firstLine) {
        if (firstLine.contains("\"chat_id\"")) {
            return QWEN_BAILIAN;
        }
        return firstLine.contains("\"input_length\"") || firstLine.contains("\"hash_ids\"") ? MOONCAKE : VLLM_BENCH;
    }

    private static TraceFormat csvFormat(String firstLine, Path file) {
        if (firstLine.contains("ContextTokens")) {
            return AZURE;
        }
        if (firstLine.contains("Request tokens")) {
            return BURSTGPT;
        }
        if (firstLine.contains("arrival_s")) {
            return CSV;
        }
        throw new TraceException(file.toString(), "looks like no format of traces; say which it is by --format");
    }

    private static String start(Path file) {
        try (var in = TraceFile.open(file)) {
            return new String(in.readNBytes(NUM_START_BYTES), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw TraceFile.unreadable(file.toString(), e);
        }
    }

    /**
     * Opens a trace.
     *
     * @param csvBlockTokens prompt tokens that one id of a CSV's {@code shared_prefix_block_ids} stands for
     */
    public abstract TraceReader open(Path file, int csvBlockTokens);
}
