package understudy.fidelity.probe;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Plan of the probes of a server: what is sent, and when, so that each number of a step's time has steps that show it.
 *
 * @param limits of the server
 * @param prompts source of prompts
 */
record ProbePlan(Limits limits, ProbePrompts prompts) {
    static final int USUAL_PROMPT = 256;

    /** Cold prompts for an idle server; each fits into any engine's token budget of a step. */
    private static final int[] COLD = {32, 128, 512, 1024};

    private static final int[] PREFIXES = {1024, 4096, 8192};
    private static final int[] BESIDE_ONE = {64, 256, 512, 1024, 1536};
    private static final int[] BATCHES = {2, 4, 8, 16, 32, 64};
    private static final int[] LONG_BATCHES = {4, 16};

    /** Beside long contexts; what these cost in addition shows best in a short step. */
    private static final int[] BESIDE_LONG = {64, 512};

    private static final int LONG_CONTEXT = 4096;
    private static final int SHORT_PROMPT = 32;
    private static final int MIDDLE_PROMPT = 512;
    private static final int NUM_REPEATS = 3;
    private static final int NUM_IDLE_REPEATS = 4;
    private static final int NUM_WARM_UP_TOKENS = 16;

    /** Steps of decodes alone before, between and behind the prompts of a probe. */
    private static final int NUM_STEPS_BETWEEN = 12;

    /** Observers beside which steps take about twice as long as beside one, and so many tokens of context do as well. */
    private static final double DOUBLING_OBSERVERS = 64;

    private static final double DOUBLING_CONTEXT = 100_000;

    /**
     * Limits of a server.
     *
     * @param maxModelLen longest sequence in tokens
     * @param mixes whether the engine computes prompts in the steps of decodes, as vLLM does, and not in between
     */
    record Limits(int maxModelLen, boolean mixes) {}

    /**
     * Rough pace of a server, by which it is known when a prompt comes while others decode.
     *
     * @param stepNanos a step of one decode
     * @param perTokenNanos each token of a prompt
     */
    record Pace(double stepNanos, double perTokenNanos) {}

    /** Returns a first request, after which client and server are warm, and which shows how long a step takes. */
    Probe warmUp() {
        return Probe.idle(cold(0, Math.min(USUAL_PROMPT, limits.maxModelLen / 2), NUM_WARM_UP_TOKENS));
    }

    /** Returns cold prompts for an idle server, several of each length in turn. */
    List<Probe> coldPrompts() {
        return IntStream.range(0, NUM_IDLE_REPEATS)
                .boxed()
                .flatMap(i -> Arrays.stream(COLD).filter(this::fits).mapToObj(length -> Probe.idle(cold(0, length, 1))))
                .toList();
    }

    /** Returns the lengths of the prefixes that are sent once to be found in the cache by others. */
    int[] prefixes() {
        return Arrays.stream(PREFIXES)
                .filter(length -> fits(length + MIDDLE_PROMPT))
                .toArray();
    }

    /** Returns the prompt that brings a prefix into the cache. */
    Probe prefix(int length) {
        return Probe.idle(new ProbeRequest(0, prompts.prefix(length), 0, 1));
    }

    /** Returns short prompts behind a prefix, for an idle server. */
    List<Probe> warmPrompts(int prefix) {
        return IntStream.range(0, NUM_IDLE_REPEATS)
                .mapToObj(i -> Probe.idle(warm(0, prefix, SHORT_PROMPT)))
                .toList();
    }

    /**
     * Returns the probes of a busy server, the most telling first.
     *
     * @param hasPrefixCache whether prompts behind a prefix are computed from there on
     */
    List<Probe> busy(Pace pace, boolean hasPrefixCache) {
        var probes = new ArrayList<Probe>();
        probes.add(decoding(pace, 1, SHORT_PROMPT, repeated(BESIDE_ONE, NUM_REPEATS), 0));
        for (int batch : LONG_BATCHES) {
            probes.add(decoding(pace, batch, longContext(), repeated(BESIDE_LONG, NUM_REPEATS), 0));
        }
        if (hasPrefixCache) {
            for (int prefix : prefixes()) {
                probes.add(decoding(pace, 1, SHORT_PROMPT, repeated(new int[] {MIDDLE_PROMPT}, NUM_REPEATS), prefix));
            }
        }
        for (int batch : BATCHES) {
            probes.add(decoding(pace, batch, SHORT_PROMPT, new int[] {MIDDLE_PROMPT}, 0));
        }
        return probes;
    }

    private int longContext() {
        return Math.min(LONG_CONTEXT, limits.maxModelLen / 2);
    }

    private boolean fits(int length) {
        return length <= limits.maxModelLen / 2;
    }

    private static int[] repeated(int[] lengths, int count) {
        return IntStream.range(0, count).flatMap(i -> Arrays.stream(lengths)).toArray();
    }

    /** Observers that decode until the last prompt is over, each prompt some steps after the one before. */
    private Probe decoding(Pace pace, int numObservers, int context, int[] lengths, int prefix) {
        double slowdown = 1 + numObservers / DOUBLING_OBSERVERS + (double) numObservers * context / DOUBLING_CONTEXT;
        double pauseNanos = NUM_STEPS_BETWEEN * pace.stepNanos * slowdown;
        double prefillNanos = 2.0 * numObservers * context * pace.perTokenNanos;
        double nanos = pauseNanos + prefillNanos;
        var sent = new ArrayList<ProbeRequest>();
        for (int length : lengths) {
            if (fits(prefix + length)) {
                nanos += pauseNanos;
                long atNanos = Math.round(nanos);
                sent.add(prefix == 0 ? cold(atNanos, length, 1) : warm(atNanos, prefix, length));
                nanos += length * pace.perTokenNanos + pace.stepNanos;
            }
        }
        // No step is shorter than that of one decode, and those with prompts of other observers are far longer, so that
        // the
        // observers outlast the prompts.
        int numTokens = (int) Math.ceil((nanos - prefillNanos / 2 + 2 * pauseNanos) / pace.stepNanos);
        int numLeft = Math.max(NUM_WARM_UP_TOKENS, Math.min(numTokens, limits.maxModelLen / 2 - 1));
        return new Probe(
                IntStream.range(0, numObservers)
                        .mapToObj(i -> cold(0, context, numLeft))
                        .toList(),
                sent);
    }

    private ProbeRequest cold(long atNanos, int numWords, int maxTokens) {
        return new ProbeRequest(atNanos, prompts.cold(numWords), 0, maxTokens);
    }

    private ProbeRequest warm(long atNanos, int prefix, int numWords) {
        return new ProbeRequest(atNanos, prompts.behindPrefix(prefix, numWords), prefix, 1);
    }
}
