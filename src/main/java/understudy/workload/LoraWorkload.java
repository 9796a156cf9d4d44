package understudy.workload;

import org.jspecify.annotations.Nullable;
import understudy.engine.Request;

/**
 * Another workload whose sessions each draw a LoRA adapter, or none; requests that name one of their own keep it.
 *
 * <p>Which one depends on the seed and the session's number alone, or that of a request without a session.
 */
public final class LoraWorkload extends ChangedWorkload {
    private final Options options;
    private final RandomStreams streams;

    /** Shares of the adapters that are as popular as each or more, the most popular first; the last one is 1. */
    private final double[] cumulated;

    /**
     * Options of the draw.
     *
     * @param count adapters, {@code lora-0} being the most popular; at least 1
     * @param skew exponent of Zipf's law: the k-th adapter is drawn in proportion to {@code k^-skew}; 0 is all alike
     * @param baseShare share of the sessions without adapter, 0 to 1
     */
    public record Options(int count, double skew, double baseShare) {}

    public LoraWorkload(Workload workload, Options options, RandomStreams streams) {
        super(workload);
        this.options = options;
        this.streams = streams;
        cumulated = new double[options.count];
        double sum = 0;
        for (int k = 0; k < options.count; k++) {
            sum += Math.pow(k + 1.0, -options.skew);
            cumulated[k] = sum;
        }
        for (int k = 0; k < options.count; k++) {
            cumulated[k] /= sum;
        }
    }

    @Override
    public @Nullable Request next() {
        return withAdapter(workload.next());
    }

    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        return withAdapter(workload.followUp(request, numOutputTokens, atNanos));
    }

    @Override
    public @Nullable Request anotherFollowUp() {
        return withAdapter(workload.anotherFollowUp());
    }

    private @Nullable Request withAdapter(@Nullable Request request) {
        if (request == null || !request.prompt().loraName().isEmpty()) {
            return request;
        }
        var turn = request.prompt().turn();
        var random = turn.isInSession()
                ? streams.stream("loras-of-sessions", turn.sessionId())
                : streams.stream("loras-of-requests", request.id());
        if (random.nextDouble() < options.baseShare) {
            return request;
        }
        return request.withPrompt(request.prompt().withLora("lora-" + drawn(random.nextDouble())));
    }

    private int drawn(double share) {
        int adapter = 0;
        while (cumulated[adapter] <= share && adapter < cumulated.length - 1) {
            adapter++;
        }
        return adapter;
    }

    @Override
    public long sendNanos(Request request) {
        return workload.sendNanos(request);
    }

    @Override
    public long intendedNanos(Request request) {
        return workload.intendedNanos(request);
    }
}
