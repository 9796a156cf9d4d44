package understudy.fidelity.probe;

import java.util.ArrayList;
import java.util.List;
import understudy.latency.BatchShape;
import understudy.latency.ProfileFit.Measurement;

/**
 * Probing of a server within a number of requests, and what it has shown. Prompts beside decodes are measured by what they
 * do to the steps of these; first tokens of an idle server, which also have the delays before a step in them, are kept
 * apart.
 */
public final class Probing {
    /** Part of the time for a cold prompt below which a prefix of it was found in the cache. */
    private static final double WARM = 0.7;

    private final ProbedServer server;
    private final ProbePlan plan;
    private final int maxRequests;
    private final List<Measurement> steps = new ArrayList<>();
    private final List<FirstToken> firstTokens = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();
    private int numRequests;
    private int numPlannedSteps;
    private int numTooMany;
    private boolean isOutOfTime;

    /**
     * First token of an idle server.
     *
     * @param batch the step that makes it
     * @param numPromptTokens length of the prompt
     * @param nanos time to it, as the client sees it
     */
    public record FirstToken(BatchShape batch, int numPromptTokens, double nanos) {}

    /**
     * What a server has shown.
     *
     * @param steps steps of decodes, and of prompts beside them
     * @param firstTokens of the idle server
     * @param numPlannedSteps steps that there would have been if all had been measured
     * @param numRequests requests that were sent
     * @param leftOut what was not probed, and why; a line each
     */
    public record Result(
            List<Measurement> steps,
            List<FirstToken> firstTokens,
            int numPlannedSteps,
            int numRequests,
            List<String> leftOut) {}

    /**
     * What is to be probed.
     *
     * @param maxModelLen longest sequence in tokens
     * @param mixes whether the engine computes prompts in the steps of decodes, as vLLM does, and not in between
     * @param maxRequests most requests
     * @param seed of the words of prompts
     */
    public record Settings(int maxModelLen, boolean mixes, int maxRequests, long seed) {}

    private Probing(ProbedServer server, Settings settings) {
        this.server = server;
        plan = new ProbePlan(
                new ProbePlan.Limits(settings.maxModelLen, settings.mixes), new ProbePrompts(settings.seed));
        maxRequests = settings.maxRequests;
    }

    /** Probes a server. */
    public static Result of(ProbedServer server, Settings settings) throws InterruptedException {
        var probing = new Probing(server, settings);
        probing.run();
        if (probing.numTooMany > 0) {
            probing.leftOut.add(
                    probing.numTooMany + " probes, which would make more than " + settings.maxRequests + " requests");
        }
        return new Result(
                List.copyOf(probing.steps),
                List.copyOf(probing.firstTokens),
                probing.numPlannedSteps,
                probing.numRequests,
                List.copyOf(probing.leftOut));
    }

    private void run() throws InterruptedException {
        // The first one warms up, so that the pace is that of the second one.
        send(plan.warmUp());
        var usual = send(plan.warmUp());
        double coldPerToken = 0;
        for (var probe : plan.coldPrompts()) {
            for (var answer : send(probe)) {
                add(answer);
                coldPerToken = answer.ttftNanos() / answer.numPromptTokens();
            }
        }
        boolean hasPrefixCache = sendWarmPrompts();
        if (usual.isEmpty()) {
            return;
        }
        double stepNanos = SteadySteps.usualNanos(usual.get(0), usual.get(0).firstNanos());
        for (var probe : plan.busy(new ProbePlan.Pace(stepNanos, coldPerToken), hasPrefixCache)) {
            numPlannedSteps += 1 + probe.prompts().size();
            var answers = send(probe);
            if (!answers.isEmpty()) {
                int numObservers = probe.observers().size();
                steps.addAll(new SteadySteps(
                                answers.subList(0, numObservers), plan.limits().mixes())
                        .measurements(answers.subList(numObservers, answers.size())));
            }
        }
    }

    /** Returns whether prefixes are found in the cache. */
    private boolean sendWarmPrompts() throws InterruptedException {
        for (int prefix : plan.prefixes()) {
            var cold = send(plan.prefix(prefix));
            for (var probe : plan.warmPrompts(prefix)) {
                for (var answer : send(probe)) {
                    if (answer.ttftNanos() > WARM * cold.get(0).ttftNanos()) {
                        leftOut.add("prompts behind a prefix: the server does not find one of " + prefix
                                + " tokens in a cache");
                        return false;
                    }
                    add(answer);
                }
            }
        }
        return true;
    }

    private void add(ProbedAnswer answer) {
        int numCached = answer.numCachedTokens();
        var batch = new BatchShape.Builder();
        batch.add(answer.numPromptTokens() - numCached, numCached, true);
        firstTokens.add(new FirstToken(batch.build(), answer.numPromptTokens(), answer.ttftNanos()));
    }

    /** Sends a probe, unless it would be too many requests or time is up. */
    private List<ProbedAnswer> send(Probe probe) throws InterruptedException {
        if (isOutOfTime) {
            return List.of();
        }
        if (numRequests + probe.numRequests() > maxRequests) {
            numTooMany++;
            return List.of();
        }
        var answers = server.answers(probe);
        isOutOfTime = answers.isEmpty();
        numRequests += isOutOfTime ? 0 : probe.numRequests();
        if (isOutOfTime) {
            leftOut.add("all probes after the first " + numRequests + " requests: time was up");
        }
        return answers;
    }
}
