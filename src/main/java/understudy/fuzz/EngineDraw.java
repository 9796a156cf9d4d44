package understudy.fuzz;

import java.util.List;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.roseinfer.RoseinferConfig.PrefillMode;
import understudy.engine.vllm.PreemptionVictim;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.FullHit;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeOrder;
import understudy.kvcache.session.SessionMode;

/** Draw of the sections {@code engine} and {@code kv-cache}: few blocks, so that they run out. */
final class EngineDraw {
    private final Draft draft;
    private final Dice dice;
    private final int blockSize;
    private final int numBlocks;

    EngineDraw(Draft draft) {
        this.draft = draft;
        dice = draft.dice;
        blockSize = dice.pick(List.of(1, 2, 4, 8, 16));
        numBlocks = dice.between(4, dice.oneIn(3) ? 12 : 80);
    }

    /** Draws the settings, and returns the tokens for which there is memory. */
    int draw() {
        draft.set("kv-cache.block-size", blockSize);
        draft.set("kv-cache.num-gpu-blocks", numBlocks);
        draft.set("engine.max-num-seqs", dice.between(1, 12));
        draft.maybePick("kv-cache.eviction-policy", EvictionPolicy.values());
        draft.maybePick("kv-cache.free-order", FreeOrder.values());
        draft.maybePick("kv-cache.hash-algo", "xxh3", "sha256_cbor", "xxhash_cbor");
        draft.maybePick("engine.dedup", "auto", "off");
        if (dice.oneIn(4)) {
            draft.set("kv-cache.enable-prefix-caching", false);
        }
        if (dice.oneIn(6)) {
            draft.set("engine.kind", "roseinfer");
            draft.maybePick("engine.prefill", PrefillMode.values());
        } else {
            drawScheduler();
            drawPrefixes();
            drawSpeculation();
            drawLoras();
            drawVersion();
        }
        return numTokens();
    }

    private int numTokens() {
        return (numBlocks - 1) * blockSize;
    }

    private void drawScheduler() {
        draft.maybe("engine.max-model-len", () -> dice.between(2, 1 + numTokens()));
        if (dice.oneIn(4)) {
            draft.set("engine.enable-chunked-prefill", false);
        } else {
            draft.maybe("engine.max-num-batched-tokens", () -> dice.between(12, 80));
            draft.maybe("engine.long-prefill-token-threshold", () -> dice.between(0, 20));
        }
        draft.maybe("engine.watermark", () -> dice.pick(List.of(0.01, 0.1, 0.3)));
        draft.maybePick("engine.scheduling-policy", SchedulingPolicy.values());
        draft.maybePick("engine.async-scheduling", true, false);
        draft.maybe("engine.decode-cohort-min-seqs", () -> dice.between(0, 4));
        draft.maybe("engine.prefill-schedule-interval", () -> dice.between(1, 5));
        draft.maybePick("engine.context-window-exceeded", ContextOverflow.values());
        String victim = dice.pick(PreemptionVictim.values());
        draft.set("engine.preemption-victim", victim);
        // Those who throw out the first in line can go on doing so for ever, unless each gets its whole prompt at once.
        // Of requests that came at the same time the least urgent is the first, too.
        boolean mayBeFirst = victim.equals("first-admitted") || victim.equals("least-urgent");
        if (mayBeFirst) {
            draft.settings.remove("engine.long-prefill-token-threshold");
        }
        draft.set("engine.scheduler-reserve-full-isl", mayBeFirst || dice.oneIn(2));
    }

    private void drawSpeculation() {
        if (draft.settings.containsKey("kv-cache.sessions") || !dice.oneIn(3)) {
            return;
        }
        String method = dice.pick(List.of("ngram", "ngram-gpu", "draft-model", "eagle", "dflash"));
        int numDrafts = dice.between(1, 5);
        draft.set("engine.speculative.method", method);
        draft.set("engine.speculative.num-speculative-tokens", numDrafts);
        draft.set("engine.speculative.synthetic-acceptance-length", 1 + dice.between(0, 10 * numDrafts) / 10.0);
        draft.maybePick("engine.speculative.proposal-rate", 0, 0.5);
        draft.maybePick("engine.speculative.draft-time-per-token", "1us", "10ms");
        if (method.equals("ngram")) {
            draft.set("engine.async-scheduling", false);
        }
        // Each request takes up to 5 tokens more of a step.
        draft.set("engine.enable-chunked-prefill", true);
    }

    private void drawLoras() {
        if (!dice.oneIn(4)) {
            return;
        }
        int maxLoras = dice.between(1, 4);
        draft.set("engine.lora.enable", true);
        draft.set("engine.lora.max-loras", maxLoras);
        draft.maybe("engine.lora.max-cpu-loras", () -> dice.between(maxLoras, 8));
        draft.maybePick("engine.lora.load-time", "0ms", "1s");
        draft.set("workload.loras.count", dice.between(1, 8));
        draft.maybePick("workload.loras.base-share", 0.5);
    }

    /** Draws rules that only some versions of vLLM have. */
    private void drawVersion() {
        draft.maybePick("engine.cap-lone-prefills", false);
        draft.maybePick("engine.long-prefill-token-threshold-adaptive", true);
        draft.maybePick("engine.max-num-active-seqs", 1);
        draft.maybePick("engine.resumed-as-new", true);
    }

    private void drawPrefixes() {
        draft.maybePick("engine.full-hit", FullHit.values());
        draft.maybePick("kv-cache.cache-generated-blocks", true, false);
        draft.maybePick("kv-cache.promote-full-blocks", true, false);
        if (dice.oneIn(3)) {
            draft.set("kv-cache.sessions", dice.pick(SessionMode.values()));
            draft.maybe("kv-cache.max-session-tokens", () -> dice.between(0, numTokens()));
            draft.maybePick("kv-cache.global-prefix-store.enabled", true, false);
            draft.maybe("kv-cache.global-prefix-store.min-length", () -> dice.between(1, 4 * blockSize));
            draft.maybe("kv-cache.global-prefix-store.min-uses", () -> dice.between(1, 3));
            draft.maybe("kv-cache.global-prefix-store.max-tokens", () -> dice.between(1, numTokens()));
        }
    }
}
