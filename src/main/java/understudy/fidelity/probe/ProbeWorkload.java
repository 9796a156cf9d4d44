package understudy.fidelity.probe;

import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.workload.Workload;

/** Requests of one probe; a request's number is its place in {@link Probe#requests}. */
public final class ProbeWorkload implements Workload {
    private final int numRequests;
    private final Iterator<Request> requests;
    private long numGiven;

    public ProbeWorkload(Probe probe) {
        var all = probe.requests();
        numRequests = all.size();
        List<Request> inOrder = IntStream.range(0, numRequests)
                .mapToObj(i -> all.get(i).toRequest(i))
                .sorted(Comparator.comparingLong(Request::arrivalNanos))
                .toList();
        requests = inOrder.iterator();
    }

    @Override
    public @Nullable Request next() {
        if (!requests.hasNext()) {
            return null;
        }
        numGiven++;
        return requests.next();
    }

    /** No request follows an answer. */
    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        return null;
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.of(numRequests);
    }

    @Override
    public long numPlanned() {
        return numGiven;
    }

    @Override
    public long numAbandoned() {
        return 0;
    }

    @Override
    public void close() {}
}
