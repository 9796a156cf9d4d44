package understudy.workload.trace;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.workload.OutputLimit;
import understudy.workload.Workload;
import understudy.workload.files.TraceException;

/**
 * Replays a trace: every row is a request of its own, sent when the trace says, without regard to answers. Time counts
 * from the first row, whose problems show when the workload is created.
 */
public final class TraceWorkload implements Workload {
    /** Latest arrival in virtual time, 31 years, which leaves enough for the run itself. */
    private static final double MAX_ARRIVAL_NANOS = 1e18;

    private final TraceReader reader;
    private final String file;
    private final Options options;
    private final TracePrompts prompts = new TracePrompts();
    private @Nullable TraceRow nextRow;
    private long startNanos;
    private long numRequests;

    /**
     * Options of a replay.
     *
     * @param timeScale factor on all arrival times, above 0; 0.5 replays twice as fast
     * @param limit most rows to read, or 0 for all
     * @param outputLimit how answers end
     * @param maxModelLen longest sequence in tokens
     */
    public record Options(double timeScale, long limit, OutputLimit outputLimit, int maxModelLen) {}

    /**
     * Replays {@code file}, which {@code reader} reads; the name is for messages.
     *
     * @throws TraceException if the trace has no rows, or the first one cannot be used
     */
    public TraceWorkload(TraceReader reader, String file, Options options) {
        this.reader = reader;
        this.file = file;
        this.options = options;
        nextRow = reader.next();
        if (nextRow == null) {
            throw new TraceException(file, "the trace has no requests");
        }
        startNanos = reader.originNanos(nextRow);
    }

    @Override
    public @Nullable Request next() {
        var row = nextRow;
        if (row == null) {
            return null;
        }
        var request = request(numRequests++, row);
        nextRow = options.limit > 0 && numRequests == options.limit ? null : rowAfter(row);
        return request;
    }

    private @Nullable TraceRow rowAfter(TraceRow row) {
        var next = reader.next();
        if (next != null && next.arrivalNanos() < row.arrivalNanos()) {
            throw new TraceException(
                    file, next.line(), "the request arrives before the one above it; sort the file by arrival");
        }
        return next;
    }

    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        return null;
    }

    @Override
    public OptionalLong total() {
        return options.limit > 0 ? OptionalLong.of(options.limit) : OptionalLong.empty();
    }

    @Override
    public long numPlanned() {
        return numRequests;
    }

    @Override
    public long numAbandoned() {
        return 0;
    }

    @Override
    public void close() {
        reader.close();
    }

    private Request request(long id, TraceRow row) {
        int numOutput = row.numOutputTokens();
        return Request.of(
                        id,
                        arrivalNanos(row),
                        new Prompt(prompts.of(row), row.loraName(), "", row.turn()),
                        options.outputLimit.maxTokens(
                                numOutput, row.numPromptTokens(), row.maxTokens(), options.maxModelLen),
                        options.outputLimit.plan(row.answer(id), numOutput))
                .withPriority(row.priority())
                .withHasPriority(row.priority() != 0)
                .withTenant(row.tenant());
    }

    private long arrivalNanos(TraceRow row) {
        double scaledNanos = (row.arrivalNanos() - startNanos) * options.timeScale;
        if (scaledNanos > MAX_ARRIVAL_NANOS) {
            throw new TraceException(file, row.line(), "the request arrives more than 31 years after the first one");
        }
        return Math.round(scaledNanos);
    }
}
