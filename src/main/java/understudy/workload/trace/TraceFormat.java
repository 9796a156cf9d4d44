package understudy.workload.trace;

import java.nio.file.Path;

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

    /** What the header of our own format says that it is. */
    public static final String HEADER = "understudy-trace";

    public static final int VERSION = 1;

    /**
     * Opens a trace.
     *
     * @param csvBlockTokens prompt tokens that one id of a CSV's {@code shared_prefix_block_ids} stands for
     */
    public abstract TraceReader open(Path file, int csvBlockTokens);
}
