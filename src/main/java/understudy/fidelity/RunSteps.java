package understudy.fidelity;

import java.util.ArrayList;
import java.util.List;
import understudy.fidelity.TokenBursts.Token;
import understudy.latency.BatchShape;
import understudy.latency.ProfileFit.Measurement;

/**
 * Steps of an engine, recovered from when the tokens of all its answers came. A step lasts from one burst of tokens to the
 * next, if all requests of the first that go on have a token in the second. It computes one token for each of them, and the
 * prompts whose first tokens end it, if there is no doubt that it computed these whole and no part of others.
 *
 * <p>That is so for a request that had its first token as soon as any can: an engine that plans a step while another
 * runs lets in nothing before the step after the next. If a request took longer, every step in which it may have been
 * computed is in doubt, as are those of an engine that was idle before.
 */
final class RunSteps {
    /** Less than any step takes, and more than the rounding of times. */
    private static final double ROUNDING_NANOS = 1_000;

    private static final double RARE = 0.05;

    private final List<AnswerTimes> answers;
    private final TokenBursts bursts;
    private final boolean[] isKnown;

    private RunSteps(List<AnswerTimes> answers) {
        this.answers = answers;
        bursts = TokenBursts.of(answers);
        isKnown = new boolean[bursts.size()];
    }

    /**
     * Recovered steps.
     *
     * @param steps the batch of each, and how long it took
     * @param numBursts steps that there were at least
     */
    record Recovered(List<Measurement> steps, int numBursts) {}

    static Recovered of(List<AnswerTimes> answers) {
        var run = new RunSteps(answers);
        for (int i = 1; i < run.bursts.size(); i++) {
            run.isKnown[i] = run.goesOn(i);
        }
        run.forgetDoubtfulPrefills();
        return run.recovered();
    }

    /** Returns whether a burst is apart from the one before, and has a token of exactly those requests of it that go on. */
    private boolean goesOn(int burst) {
        long numUnfinished = bursts.tokens().get(burst - 1).stream()
                .filter(token ->
                        token.index() + 1 < bursts.indexes().get(token.answer()).size())
                .count();
        var decodes = bursts.tokens().get(burst).stream()
                .filter(token -> token.index() > 0)
                .toList();
        return nanos(burst) > bursts.spreadNanos()
                && !decodes.isEmpty()
                && decodes.size() == numUnfinished
                && decodes.stream().allMatch(token -> burstOf(token.answer(), token.index() - 1) == burst - 1);
    }

    private double nanos(int burst) {
        return bursts.nanos().getDouble(burst) - bursts.nanos().getDouble(burst - 1);
    }

    private int burstOf(int answer, int token) {
        return bursts.indexes().get(answer).getInt(token);
    }

    private void forgetDoubtfulPrefills() {
        int[] arrivals = answers.stream()
                .mapToInt(answer -> bursts.firstAfter(answer.sentNanos() + ROUNDING_NANOS))
                .toArray();
        var wasBusy = isKnown.clone();
        int delay = leastDelay(arrivals, wasBusy);
        for (int i = 0; i < answers.size(); i++) {
            int first = burstOf(i, 0);
            boolean isAtOnce = wasBusy[arrivals[i]] && first == arrivals[i] + delay;
            int from = wasBusy[arrivals[i]] ? arrivals[i] + delay : arrivals[i];
            for (int burst = Math.min(from, first); burst <= first && !isAtOnce; burst++) {
                isKnown[burst] = false;
            }
        }
    }

    /** Returns how many steps after the one in which it arrives a request has its first token at the earliest. */
    private int leastDelay(int[] arrivals, boolean[] wasBusy) {
        var delays = new ArrayList<Integer>();
        for (int i = 0; i < arrivals.length; i++) {
            if (wasBusy[arrivals[i]]) {
                delays.add(burstOf(i, 0) - arrivals[i]);
            }
        }
        delays.sort(null);
        return delays.isEmpty() ? 0 : delays.get((int) (RARE * delays.size()));
    }

    private Recovered recovered() {
        var steps = new ArrayList<Measurement>();
        var batch = new BatchShape.Builder();
        for (int i = 1; i < bursts.size(); i++) {
            if (isKnown[i]) {
                bursts.tokens().get(i).forEach(token -> add(token, batch));
                steps.add(new Measurement(
                        batch.build(),
                        bursts.nanos().getDouble(i) - bursts.nanos().getDouble(i - 1)));
                batch.clear();
            }
        }
        return new Recovered(steps, bursts.size());
    }

    /** A token was computed from the one before it, and the first one from the prompt. */
    private void add(Token token, BatchShape.Builder batch) {
        int numPromptTokens = answers.get(token.answer()).numPromptTokens();
        if (token.index() == 0) {
            batch.add(numPromptTokens, 0, true);
        } else {
            batch.add(1, numPromptTokens + token.index() - 1, true);
        }
    }
}
