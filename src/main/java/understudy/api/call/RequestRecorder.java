package understudy.api.call;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.cluster.RequestEvent;
import understudy.prompt.Prompt;
import understudy.prompt.Xxh3BlockHasher;
import understudy.workload.trace.TraceLine;
import understudy.workload.trace.TraceLineBuilder;

/**
 * Recorder of what a server is asked: a trace of our own format, one line for each request that got a token. Lines stand
 * in the order of arrival, so that one is written as soon as all requests that came before have ended. Each is handed
 * to the system whole. Thread-safe.
 */
public final class RequestRecorder implements ClusterLink.Watcher, Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(RequestRecorder.class);

    private static final Comparator<Generation> BY_ARRIVAL =
            Comparator.comparingLong(Generation::arrivalNanos).thenComparingLong(Generation::id);

    private final OutputStream out;
    private final Xxh3BlockHasher hasher;
    private final boolean hasText;
    private final TreeSet<Generation> inFlight = new TreeSet<>(BY_ARRIVAL);
    private final PriorityQueue<Pending> pending =
            new PriorityQueue<>(Comparator.comparing(Pending::generation, BY_ARRIVAL));
    private long latestNanos;
    private boolean hasFailed;

    /** Request that has ended, and how many tokens it got. */
    private record Pending(Generation generation, int numOutputTokens) {}

    /**
     * Begins a file, which must not be there yet.
     *
     * @param blockSize tokens of the blocks that are named
     * @param hasText whether prompts are written, too
     */
    public RequestRecorder(Path file, int blockSize, boolean hasText) throws IOException {
        out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        hasher = new Xxh3BlockHasher(blockSize);
        this.hasText = hasText;
        out.write(TraceLine.header(blockSize));
    }

    @Override
    public synchronized void onSubmitted(Generation generation) {
        inFlight.add(generation);
    }

    @Override
    public synchronized void onRejected(Generation generation) {
        inFlight.remove(generation);
        writeWhatIsNext();
    }

    @Override
    public synchronized void onEnded(RequestEvent.Ended ended, Generation generation) {
        inFlight.remove(generation);
        if (ended.numOutputTokens() > 0) {
            pending.add(new Pending(generation, ended.numOutputTokens()));
        }
        writeWhatIsNext();
    }

    private void writeWhatIsNext() {
        for (var next = pending.peek(); next != null && isNext(next.generation); next = pending.peek()) {
            write(pending.remove());
        }
    }

    private boolean isNext(Generation ended) {
        return inFlight.isEmpty() || BY_ARRIVAL.compare(ended, inFlight.first()) < 0;
    }

    /** A disk that is full ends the recording, and not the server. */
    private void write(Pending ended) {
        if (hasFailed) {
            return;
        }
        try {
            out.write(line(ended.generation, ended.numOutputTokens).bytes());
        } catch (IOException e) {
            hasFailed = true;
            LOG.error("recording ends here: {}", e.toString());
        }
    }

    private TraceLine line(Generation generation, int numOutputTokens) {
        var spec = generation.spec();
        var params = spec.params();
        var prompt = new Prompt(spec.prompt(), spec.loraName(), params.cacheSalt());
        // A request that took long to read came before others that are written already.
        latestNanos = Math.max(latestNanos, generation.arrivalNanos());
        return TraceLineBuilder.builder()
                .atNanos(latestNanos)
                .numPromptTokens(prompt.length())
                .numOutputTokens(numOutputTokens)
                .blockHashes(TraceLine.hashes(prompt, spec.answer().tokens(), numOutputTokens, hasher))
                .numPromptBlocks(prompt.length() / hasher.blockSize())
                .turn(spec.turn())
                .maxTokens(spec.maxTokens())
                .ignoresEos(params.ignoresEos())
                .priority(params.priority())
                .user(generation.tenant())
                .loraName(spec.loraName())
                .text(hasText ? spec.tokenizer().decode(spec.prompt()) : null)
                .build();
    }

    /** Writes what still waits for earlier requests, and ends the file. */
    @Override
    public synchronized void close() {
        inFlight.clear();
        writeWhatIsNext();
        try {
            out.close();
        } catch (IOException e) {
            LOG.error("the recording may be incomplete: {}", e.toString());
        }
    }
}
