package understudy.routing.policy;

import it.unimi.dsi.fastutil.ints.IntLinkedOpenHashSet;

/**
 * Scorer that spreads prompts of which nothing is cached: the replica that has not been sent such a prompt for longest
 * gets 1, the one that was sent the latest gets 0, in equal steps. All get 0.5 for a prompt of which something is
 * cached.
 *
 * <p>llm-d's {@code no-hit-lru-scorer} ({@code no_hit_lru.go}).
 */
final class NoHitLru implements Scorer {
    private static final int MAX_REPLICAS = 1_024;

    private final IntLinkedOpenHashSet lastUsed = new IntLinkedOpenHashSet();
    private boolean isCold;

    @Override
    public double[] score(Cycle cycle) {
        isCold = cycle.candidates().intStream().allMatch(i -> cycle.hits().share(i) == 0);
        return isCold ? scoreCold(cycle) : cycle.each(i -> 0.5);
    }

    private double[] scoreCold(Cycle cycle) {
        var ranks = new int[cycle.view().numReplicas()];
        int rank = 0;
        for (int i : cycle.candidates()) {
            if (!lastUsed.contains(i)) {
                ranks[i] = rank++;
            }
        }
        // Those that are no candidates now keep their ranks, too.
        for (int i : lastUsed) {
            ranks[i] = rank++;
        }
        double last = Math.max(1, cycle.candidates().size() - 1);
        return cycle.each(i -> Math.max(0, 1 - ranks[i] / last));
    }

    @Override
    public void onChosen(Cycle cycle, int replica) {
        if (!isCold) {
            return;
        }
        lastUsed.addAndMoveToLast(replica);
        if (lastUsed.size() > MAX_REPLICAS) {
            lastUsed.removeFirstInt();
        }
    }
}
