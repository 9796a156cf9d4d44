package understudy.fuzz;

import java.util.ArrayList;

/** Draw of the KV that comes later: roles of replicas, host memory, and how it is moved between them. */
final class TransferDraw {
    private static final int MAX_REPLICAS_OF_ROLE = 2;

    private final Draft draft;
    private final Dice dice;

    TransferDraw(Draft draft) {
        this.draft = draft;
        dice = draft.dice;
    }

    /**
     * Draws settings that replace the number of replicas, or leaves it.
     *
     * @return how many replicas there are
     */
    int draw(int numReplicas) {
        if (draft.settings.containsKey("engine.kind") || draft.settings.containsKey("kv-cache.sessions")) {
            return numReplicas;
        }
        boolean hasTier = dice.oneIn(4);
        boolean hasRoles = dice.oneIn(3);
        if (hasTier || hasRoles) {
            draft.set("engine.dedup", "auto");
            draft.maybePick("kv-cache.transfer.load-failure-policy", "fail", "recompute");
            draft.maybePick("kv-cache.transfer.timeout", "1ms", "1s");
        }
        if (hasTier) {
            drawTier();
        }
        return hasRoles ? drawRoles() : numReplicas;
    }

    private void drawTier() {
        draft.set("kv-cache.tiers.host.tokens", dice.between(1, dice.oneIn(2) ? 100 : 3000));
        draft.maybePick("kv-cache.tiers.host.blocks-per-chunk", 1, 2, 3);
        draft.maybePick("kv-cache.tiers.host.eviction-policy", "lru", "arc");
        draft.maybePick("kv-cache.tiers.host.store-threshold", 0, 2);
        draft.maybePick("kv-cache.tiers.host.max-tracker-size", 1, 10);
        draft.maybePick("kv-cache.tiers.host.offload-prompt-only", true, false);
        draft.maybePick("kv-cache.tiers.host.bandwidth", 0.001, 0.1);
    }

    /** Draws groups, and returns how many replicas they have. */
    private int drawRoles() {
        draft.settings.remove("cluster.replicas");
        int numReplicas = 0;
        var groups = new ArrayList<String>();
        for (String role : dice.oneIn(3) ? new String[] {"prefill", "both"} : new String[] {"prefill", "decode"}) {
            int count = dice.between(1, MAX_REPLICAS_OF_ROLE);
            groups.add("{ name = " + role + ", replicas = " + count + ", role = " + role + " }");
            numReplicas += count;
        }
        draft.set("cluster.groups", groups);
        drawDisaggregation();
        drawNetwork();
        return numReplicas;
    }

    private void drawDisaggregation() {
        draft.maybePick("router.disaggregation.decider", "uncached-tokens", "conditional", "always", "never");
        draft.maybePick("router.disaggregation.uncached-tokens", 0, 1, 40);
        draft.maybePick("router.disaggregation.max-local-prefill-length", 0, 20);
        draft.maybePick("router.disaggregation.max-prefill-queue-size", 1, 5);
        draft.maybePick("router.disaggregation.prefill-policy", "auto", "round-robin", "prefix-aware");
        draft.maybePick("router.disaggregation.on-prefill-failure", "fail", "decode-locally");
    }

    private void drawNetwork() {
        draft.maybePick("kv-cache.transfer.bandwidth", 0.01, 0.1);
        draft.maybePick("kv-cache.transfer.handshake", "10ms", "1s");
        draft.maybePick("kv-cache.transfer.post", "0ms", "10ms");
        draft.maybePick("kv-cache.transfer.per-descriptor", "1ns", "10us");
        draft.maybePick("kv-cache.transfer.notify", "0ms", "10ms");
        draft.maybePick("kv-cache.transfer.lease-duration", "1ms", "20ms", "1s");
        draft.maybePick("kv-cache.transfer.lease-heartbeats", true, false);
        draft.maybePick("kv-cache.transfer.stale-read", "fail", "garbage");
        draft.maybePick("kv-cache.transfer.notify-on-reject", true, false);
    }
}
