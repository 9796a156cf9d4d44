package understudy.workload;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.kvcache.Prompt;

/** Replays a trace: every row is a request of its own, sent when the trace says, whatever became of the others. */
public final class TraceWorkload implements Workload {
    private final TraceReader reader;
    private final String file;
    private final Options options;
    private long numRequests;
    private long lastArrivalNanos;

    /**
     * How to replay.
     *
     * @param timeScale factor on all arrival times, above 0; 0.5 replays twice as fast
     * @param limit most rows to read, or 0 for all
     * @param outputLimit how answers end
     * @param maxModelLen longest sequence in tokens
     */
    public record Options(double timeScale, long limit, OutputLimit outputLimit, int maxModelLen) {}

    /** Replays {@code file}, which {@code reader} reads; the name is for messages. */
    public TraceWorkload(TraceReader reader, String file, Options options) {
        this.reader = reader;
        this.file = file;
        this.options = options;
    }

    @Override
    public @Nullable Request next() {
        if (options.limit > 0 && numRequests == options.limit) {
            return null;
        }
        var row = reader.next();
        if (row == null) {
            return null;
        }
        if (row.arrivalNanos() < lastArrivalNanos) {
            throw new TraceException(
                    file,
                    "request " + (numRequests + 1) + " arrives before the one above it; sort the file by arrival");
        }
        lastArrivalNanos = row.arrivalNanos();
        return request(numRequests++, row);
    }

    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        return null;
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.empty();
    }

    @Override
    public void close() {
        reader.close();
    }

    private Request request(long id, TraceRow row) {
        int numOutput = row.numOutputTokens();
        int numPrompt = row.prompt().length();
        return Request.of(
                id,
                Math.round(row.arrivalNanos() * options.timeScale),
                new Prompt(row.prompt()),
                options.outputLimit.maxTokens(numOutput, numPrompt, options.maxModelLen),
                options.outputLimit.script(id, numOutput));
    }
}
