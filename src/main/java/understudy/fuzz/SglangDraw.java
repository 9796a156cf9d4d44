package understudy.fuzz;

import java.util.ArrayList;
import java.util.List;
import understudy.engine.sglang.SchedulePolicy;
import understudy.kvcache.radix.RadixEvictionPolicy;
import understudy.settings.Section;

/**
 * Draw of SGLang's engine in place of what was drawn before, alone or in a group beside one of vLLM. It has dice of its own,
 * so that other draws are what they were.
 */
final class SglangDraw {
    private static final int BLOCK_SIZE = 4;

    /** A memory must have four pages, of 16 tokens at most. */
    private static final int LEAST_TOKENS = 64;

    private final Draft draft;
    private final Dice dice;
    private final int numTokens;

    /**
     * Creates a draw.
     *
     * @param numTokens tokens for which there is to be memory
     */
    SglangDraw(Draft draft, Dice dice, int numTokens) {
        this.draft = draft;
        this.dice = dice;
        this.numTokens = numTokens;
    }

    /**
     * Draws settings that replace those of another engine, or leaves them.
     *
     * @return how many replicas there are
     */
    int draw(int numReplicas) {
        if (!dice.oneIn(4)) {
            return numReplicas;
        }
        draft.settings
                .keySet()
                .removeIf(key ->
                        key.startsWith("engine.") || key.startsWith("kv-cache.") || key.startsWith("workload.loras."));
        int maxModelLen = Math.max(LEAST_TOKENS, numTokens);
        draft.set("engine.kind", "sglang");
        draft.set("engine.max-model-len", maxModelLen);
        if (dice.oneIn(6)) {
            draft.set("kv-cache.enable-prefix-caching", false);
        }
        var settings = settings(maxModelLen);
        if (dice.oneIn(3)) {
            return drawGroups(maxModelLen, settings);
        }
        for (String setting : settings) {
            int end = setting.indexOf(" = ");
            draft.set("engine.sglang." + setting.substring(0, end), setting.substring(end + 3));
        }
        return numReplicas;
    }

    /** A group of each engine. */
    private int drawGroups(int maxModelLen, List<String> settings) {
        int numOthers = dice.between(1, 2);
        int numBlocks = maxModelLen / BLOCK_SIZE + 3;
        draft.settings.remove("cluster.replicas");
        draft.set(
                "cluster.groups",
                List.of(
                        "{ name = vllm, replicas = 1, engine.kind = vllm, kv-cache { block-size = " + BLOCK_SIZE
                                + ", num-gpu-blocks = " + numBlocks + " } }",
                        "{ name = sglang, replicas = " + numOthers + ", engine.sglang { " + String.join(", ", settings)
                                + " } }"));
        return 1 + numOthers;
    }

    private List<String> settings(int maxModelLen) {
        int pageSize = dice.pick(List.of(1, 1, 2, 4, 16));
        var settings = new ArrayList<String>();
        settings.add("page-size = " + pageSize);
        settings.add("max-total-tokens = " + (maxModelLen + 2 * pageSize + 2 + dice.between(0, maxModelLen)));
        settings.add("max-running-requests = " + dice.between(1, 12));
        settings.add("chunked-prefill-size = " + (dice.oneIn(4) ? -1 : dice.between(pageSize, pageSize + 60)));
        settings.add("schedule-policy = " + Section.nameOf(SchedulePolicy.values()[dice.between(0, 5)]));
        settings.add("radix-eviction-policy = " + Section.nameOf(RadixEvictionPolicy.values()[dice.between(0, 6)]));
        settings.add("enable-mixed-chunk = " + dice.oneIn(3));
        settings.add("disable-overlap-schedule = " + dice.oneIn(3));
        settings.add("disable-radix-cache = " + dice.oneIn(5));
        settings.add("schedule-conservativeness = " + dice.pick(List.of("0.1", "1.0", "2.0")));
        settings.add("max-queued-requests = " + (dice.oneIn(5) ? dice.between(1, 8) : 0));
        settings.add("req-waiting-timeout = " + (dice.oneIn(5) ? "1s" : "off"));
        return settings;
    }
}
