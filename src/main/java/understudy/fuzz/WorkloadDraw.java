package understudy.fuzz;

import java.util.List;

/** Draw of the section {@code workload}: few and short requests. */
final class WorkloadDraw {
    private static final int MAX_REQUESTS = 200;
    private static final int MAX_ANSWER = 60;
    private static final int MAX_TURNS = 6;

    private final Draft draft;
    private final Dice dice;
    private final int numTokens;

    /** Takes the tokens for which a replica has memory. */
    WorkloadDraw(Draft draft, int numTokens) {
        this.draft = draft;
        dice = draft.dice;
        this.numTokens = numTokens;
    }

    void draw() {
        draft.set("workload.requests", dice.between(1, dice.oneIn(3) ? MAX_REQUESTS : MAX_REQUESTS / 4));
        draft.maybePick("workload.ignore-eos", true, false);
        draft.maybe("workload.max-concurrency", () -> dice.between(0, 20));
        draft.maybe("workload.priorities", () -> dice.between(1, 4));
        draft.distribution("workload.lengths.prompt", share(2), "");
        draft.distribution("workload.lengths.output", Math.min(MAX_ANSWER, share(2)), "");
        if (dice.oneIn(5)) {
            drawBurst();
        } else {
            drawSessions();
        }
    }

    private int share(int least) {
        return Math.max(1, numTokens / dice.between(least, 8));
    }

    private void drawBurst() {
        draft.set("workload.kind", "burst");
        draft.maybe("workload.burst.distinct-prompts", () -> dice.between(0, 5));
        draft.maybePick("workload.burst.first-submit", "0ms", "30ms");
        draft.maybePick("workload.burst.pause", "0ms", "1ms");
        draft.distribution("workload.burst.submit", 20, "ms");
    }

    private void drawSessions() {
        draft.maybePick("workload.arrivals.kind", "poisson", "constant", "gamma");
        draft.set("workload.arrivals.request-rate", dice.pick(List.of("2", "20", "200", "inf")));
        draft.maybePick("workload.arrivals.burstiness", 0.1, 3, 50);
        draft.maybe("workload.prefix-groups.count", () -> dice.between(0, 4));
        draft.distribution("workload.prefix-groups.length", share(4), "");
        draft.distribution("workload.sessions.turns", MAX_TURNS, "");
        draft.distribution("workload.sessions.think-time", dice.pick(List.of(1, 50, 2000)), "ms");
    }
}
