package understudy.workload;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.OptionalLong;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;
import understudy.prompt.Prompt;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;

/**
 * One client that hands over requests one after the other, without waiting for answers, as roseinfer's {@code
 * benchmark_streaming.py} does: a request arrives when its {@code add_request} is called, and reaches the cluster when
 * that call returns. Only then comes the next one.
 */
public final class BurstWorkload implements Workload {
    private static final double NANOS_PER_SECOND = 1e9;

    private final Options options;
    private final UniformRandomProvider promptLengths;
    private final UniformRandomProvider outputLengths;
    private final UniformRandomProvider submits;
    private final @Nullable Prompt[] sharedPrompts;
    private final LongArrayList sendNanos = new LongArrayList();
    private double clockNanos;

    /**
     * Options of a burst.
     *
     * @param numRequests at least 1
     * @param numDistinctPrompts how many different prompts there are, which take turns; 0 is one for every request
     * @param promptLengths tokens of each prompt
     * @param outputLengths tokens of each answer
     * @param firstSubmitSeconds how long the first call takes, with all that is set up on first use; at least 0
     * @param submitSeconds how long each other call takes, at least 0
     * @param pauseSeconds from the end of a call to the beginning of the next one, at least 0
     * @param outputLimit how answers end
     * @param maxModelLen longest sequence in tokens
     */
    public record Options(
            long numRequests,
            int numDistinctPrompts,
            WholeNumbers promptLengths,
            WholeNumbers outputLengths,
            double firstSubmitSeconds,
            Distribution submitSeconds,
            double pauseSeconds,
            OutputLimit outputLimit,
            int maxModelLen) {}

    /** Starts at time 0. */
    public BurstWorkload(Options options, RandomStreams streams) {
        this.options = options;
        promptLengths = streams.stream("burst-prompt-lengths");
        outputLengths = streams.stream("burst-output-lengths");
        submits = streams.stream("burst-submits");
        sharedPrompts = new @Nullable Prompt[options.numDistinctPrompts];
    }

    @Override
    public @Nullable Request next() {
        int id = sendNanos.size();
        if (id == options.numRequests) {
            return null;
        }
        long arrivalNanos = Math.round(clockNanos);
        double submitSeconds = id == 0 ? options.firstSubmitSeconds : options.submitSeconds.sample(submits);
        clockNanos += submitSeconds * NANOS_PER_SECOND;
        sendNanos.add(Math.round(clockNanos));
        clockNanos += options.pauseSeconds * NANOS_PER_SECOND;
        var prompt = prompt(id);
        int numOutput = options.outputLengths.sample(outputLengths);
        return Request.of(
                id,
                arrivalNanos,
                prompt,
                options.outputLimit.maxTokens(numOutput, prompt.length(), options.maxModelLen),
                options.outputLimit.plan(id, numOutput));
    }

    @Override
    public long sendNanos(Request request) {
        return sendNanos.getLong((int) request.id());
    }

    /** No request follows an answer. */
    @Override
    public @Nullable Request followUp(Request request, int numOutputTokens, long atNanos) {
        return null;
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.of(options.numRequests);
    }

    @Override
    public long numPlanned() {
        return sendNanos.size();
    }

    @Override
    public long numAbandoned() {
        return 0;
    }

    @Override
    public void close() {}

    private Prompt prompt(int id) {
        if (sharedPrompts.length == 0) {
            return newPrompt(id);
        }
        int index = id % sharedPrompts.length;
        var known = sharedPrompts[index];
        if (known == null) {
            known = newPrompt(index);
            sharedPrompts[index] = known;
        }
        return known;
    }

    private Prompt newPrompt(long textId) {
        int length = options.promptLengths.sample(promptLengths);
        return new Prompt(SegmentedTokens.EMPTY.append(Segments.ofUniqueText(textId), length));
    }
}
