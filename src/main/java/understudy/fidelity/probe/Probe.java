package understudy.fidelity.probe;

import java.util.List;
import java.util.stream.Stream;

/**
 * Requests that show how long some steps take. Answers of the observers have a token in each step from the time on at which
 * all of them decode; the prompts, which have an answer of one token, come in between. Without observers the server is
 * idle, and a prompt shows the time of its first token.
 */
public record Probe(List<ProbeRequest> observers, List<ProbeRequest> prompts) {

    /** Returns a probe of an idle server. */
    static Probe idle(ProbeRequest request) {
        return new Probe(List.of(), List.of(request));
    }

    /** Returns all requests, the observers first. */
    public List<ProbeRequest> requests() {
        return Stream.concat(observers.stream(), prompts.stream()).toList();
    }

    int numRequests() {
        return observers.size() + prompts.size();
    }
}
