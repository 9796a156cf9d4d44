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

    private static final String POOL = "max-total-tokens = ";

    /** What the pool of layers with a window needs at least, divided by its part. */
    private static final int WINDOW_TOKENS = 230;

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
        drawPriorities(settings);
        drawFeature(settings);
        drawOptions(settings, numReplicas);
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

    private void drawPriorities(List<String> settings) {
        if (dice.oneIn(3)) {
            return;
        }
        settings.add("enable-priority-scheduling = true");
        settings.add("schedule-low-priority-values-first = " + dice.oneIn(2));
        settings.add("disable-priority-preemption = " + dice.oneIn(4));
        settings.add("priority-scheduling-preemption-threshold = " + dice.pick(List.of(0, 1)));
        settings.add("requeue-refused-preemption = " + dice.oneIn(2));
        settings.add("retraction-policy = " + dice.pick(List.of("length", "priority")));
        draft.set("workload.priorities", dice.between(1, 4));
    }

    /** One of those that do not go together: windows, copies on the host, drafts, adapters. */
    private void drawFeature(List<String> settings) {
        switch (dice.between(0, 5)) {
            case 0 -> {
                draft.set("latency.llm", "gpt-oss-20b");
                settings.add("swa-eviction-interval = " + dice.pick(List.of(1, 4, 128)));
                // A window of 128 tokens, and pages beside it, in 0.8 times as many.
                settings.replaceAll(setting -> setting.startsWith(POOL)
                        ? POOL + (Integer.parseInt(setting.substring(POOL.length())) + WINDOW_TOKENS)
                        : setting);
            }
            case 1 -> {
                settings.add("enable-hierarchical-cache = true");
                settings.add("hicache-ratio = " + dice.pick(List.of("0.5", "2.0")));
                settings.add("hicache-write-policy = "
                        + dice.pick(List.of("write-through", "write-through-selective", "write-back")));
                draft.set("kv-cache.tiers.host.bandwidth", dice.pick(List.of("0.01", "64")));
                settings.replaceAll(setting ->
                        setting.equals("disable-radix-cache = true") ? "disable-radix-cache = false" : setting);
                draft.settings.remove("kv-cache.enable-prefix-caching");
            }
            case 2 -> {
                int numSteps = dice.between(1, 5);
                settings.add("speculative-algorithm = " + dice.pick(List.of("eagle", "eagle3")));
                settings.add("speculative-num-steps = " + numSteps);
                settings.add("simulate-acc-len = " + (1 + dice.between(0, 10 * numSteps) / 10.0));
                if (dice.oneIn(3)) {
                    settings.add("speculative-eagle-topk = 2");
                    settings.add("speculative-num-draft-tokens = " + dice.between(numSteps + 1, 2 * numSteps + 2));
                }
            }
            case 3 -> {
                settings.add("enable-lora = true");
                settings.add("max-loras-per-batch = " + dice.between(1, 4));
                draft.set("workload.loras.count", dice.between(1, 8));
                draft.set("workload.loras.base-share", dice.pick(List.of("0", "0.5")));
            }
            default -> {
                // None of them.
            }
        }
    }

    private void drawOptions(List<String> settings, int numReplicas) {
        if (numReplicas % 2 == 0 && dice.oneIn(3) && !draft.settings.containsKey("latency.llm")) {
            draft.set("latency.llm", "\"\"");
            draft.set("latency.data-parallel-size", 2);
        }
        settings.add("prefill-decode-interval = " + (dice.oneIn(3) ? dice.between(1, 30) : 0));
        if (dice.oneIn(3)) {
            settings.add("enable-prefill-delayer = true");
            settings.remove("disable-overlap-schedule = true");
            settings.add("prefill-delayer-queue-min-ratio = " + dice.pick(List.of("none", "0.5", "3")));
            settings.add("prefill-delayer-token-usage-low-watermark = " + dice.pick(List.of("none", "0.3")));
            settings.add("prefill-delayer-max-delay-ms = " + dice.pick(List.of(0, 10, 5000)));
            settings.add("prefill-delayer-max-delay-passes = " + dice.pick(List.of(1, 2, 30)));
        }
    }

    private List<String> settings(int maxModelLen) {
        int pageSize = dice.pick(List.of(1, 1, 2, 4, 16));
        var settings = new ArrayList<String>();
        settings.add("page-size = " + pageSize);
        settings.add(POOL + (maxModelLen + 2 * pageSize + 2 + dice.between(0, maxModelLen)));
        settings.add("max-running-requests = " + dice.between(1, 12));
        settings.add("chunked-prefill-size = " + (dice.oneIn(4) ? -1 : dice.between(pageSize, pageSize + 60)));
        settings.add("schedule-policy = "
                + Section.nameOf(dice.pick(List.of(SchedulePolicy.values()).subList(0, 6))));
        settings.add("radix-eviction-policy = " + Section.nameOf(dice.pick(List.of(RadixEvictionPolicy.values()))));
        settings.add("enable-mixed-chunk = " + dice.oneIn(3));
        settings.add("disable-overlap-schedule = " + dice.oneIn(3));
        settings.add("disable-radix-cache = " + dice.oneIn(5));
        settings.add("schedule-conservativeness = " + dice.pick(List.of("0.1", "1.0", "2.0")));
        settings.add("max-queued-requests = " + (dice.oneIn(5) ? dice.between(1, 8) : 0));
        settings.add("req-waiting-timeout = " + (dice.oneIn(5) ? "1s" : "off"));
        return settings;
    }
}
