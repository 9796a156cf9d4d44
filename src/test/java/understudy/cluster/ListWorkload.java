package understudy.cluster;

import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import understudy.engine.OutputPlan;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.SyntheticTokens;
import understudy.workload.Workload;

/** A workload that a test has written down. */
public class ListWorkload implements Workload {
    private final Iterator<Request> requests;
    private long numPlanned;

    public ListWorkload(List<Request> requests) {
        this.requests = requests.iterator();
    }

    /** A prompt of its own, and an answer that ends at its limit. */
    public static Request request(long id, long arrivalNanos, int promptTokens, int outputTokens) {
        return request(id, arrivalNanos, SegmentedTokens.EMPTY.append(id, promptTokens), outputTokens);
    }

    public static Request request(long id, long arrivalNanos, SegmentedTokens prompt, int outputTokens) {
        var output = new OutputPlan(new SyntheticTokens(-1 - id), OutputPlan.ENDLESS);
        return Request.of(id, arrivalNanos, new Prompt(prompt), outputTokens, output);
    }

    @Override
    public Request next() {
        if (!requests.hasNext()) {
            return null;
        }
        numPlanned++;
        return requests.next();
    }

    @Override
    public Request followUp(Request request, int numOutputTokens, long atNanos) {
        return null;
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.empty();
    }

    @Override
    public long numPlanned() {
        return numPlanned;
    }

    @Override
    public long numAbandoned() {
        return 0;
    }

    @Override
    public void close() {}
}
