package understudy.workload.servegen;

import org.apache.commons.rng.UniformRandomProvider;
import understudy.workload.RandomStreams;

/** Lengths of a client's requests, drawn one after the other. */
final class RequestLengths {
    private final ServeGenClient client;
    private final ServeGenOptions options;
    private final UniformRandomProvider random;
    private double share;
    private int numPrompt;
    private int numOutput;

    RequestLengths(ServeGenClient client, ServeGenOptions options, RandomStreams streams) {
        this.client = client;
        this.options = options;
        random = streams.stream("servegen-lengths", client.number());
    }

    ServeGenClient client() {
        return client;
    }

    /** Draws the lengths of the next request, which comes at a time on the clock of the service. */
    void draw(long atSeconds) {
        var tables = client.lengths().at(atSeconds);
        share = random.nextDouble();
        numPrompt = (int) Math.max(1, tables.input().quantile(share));
        double answer = tables.output().quantile(shareOfNext());
        if (!options.hasReasoning() && !tables.reasoning().isEmpty()) {
            answer *= 1 - tables.reasoning().quantile(shareOfNext());
        }
        numOutput = (int) Math.max(1, Math.rint(answer));
    }

    private double shareOfNext() {
        return options.hasCoupledLengths() ? share : random.nextDouble();
    }

    int numPrompt() {
        return numPrompt;
    }

    int numOutput() {
        return numOutput;
    }
}
