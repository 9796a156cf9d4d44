package understudy.workload.servegen;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.workload.RandomStreams;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceRow;

/**
 * Requests of a production day, drawn from what ServeGen publishes of it: for each client its rate and the variation of
 * its gaps in windows of ten minutes, and the distributions of its lengths in windows of six hours. The data say nothing
 * about content, so no two prompts share anything. Each client has random streams of its own, and is the tenant of its
 * requests; the clients are held in memory, and never the requests.
 *
 * <p>See <a href="https://github.com/alibaba/ServeGen">ServeGen</a> (Xiang et al., NSDI 2026).
 */
public final class ServeGenReader implements TraceReader {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final ServeGenOptions options;
    private final PriorityQueue<Next> queue =
            new PriorityQueue<>(Comparator.comparingLong(Next::atNanos).thenComparing(next -> next.number));
    private long numRows;

    /** A client at its next request. */
    private static final class Next {
        private final ClientArrivals arrivals;
        private final RequestLengths lengths;
        private final long number;

        Next(ServeGenClient client, ServeGenOptions options, RandomStreams streams) {
            arrivals = new ClientArrivals(client, streams);
            lengths = new RequestLengths(client, options, streams);
            number = client.number();
        }

        long atNanos() {
            return arrivals.atNanos();
        }
    }

    /**
     * Reads the clients.
     *
     * @throws understudy.workload.files.TraceException if a service has none, or a file cannot be used
     */
    public ServeGenReader(ServeGenOptions options, RandomStreams streams) {
        this.options = options;
        IntStream.range(0, options.services().size())
                .mapToObj(index -> ServeGenFiles.read(options, index))
                .forEach(clients -> clients.forEach(client -> enqueue(new Next(client, options, streams))));
    }

    /** Queues a client's next request; those before or after the excerpt of the day are passed over. */
    private void enqueue(Next client) {
        boolean hasNext = client.arrivals.next();
        while (hasNext && client.atNanos() < options.startSeconds() * NANOS_PER_SECOND) {
            hasNext = client.arrivals.next();
        }
        if (hasNext && client.atNanos() < options.endSeconds() * NANOS_PER_SECOND) {
            queue.add(client);
        }
    }

    @Override
    public @Nullable TraceRow next() {
        var client = queue.poll();
        if (client == null) {
            return null;
        }
        long atNanos = client.atNanos();
        client.lengths.draw(atNanos / NANOS_PER_SECOND);
        var row = TraceRow.of(
                        ++numRows,
                        atNanos - options.startSeconds() * NANOS_PER_SECOND,
                        client.lengths.numPrompt(),
                        client.lengths.numOutput())
                .withTenant(client.lengths.client().name());
        enqueue(client);
        return row;
    }

    /** The clock of a day does not begin with its first request. */
    @Override
    public long originNanos(TraceRow first) {
        return 0;
    }

    @Override
    public void close() {
        queue.clear();
    }
}
