package understudy.fuzz;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import understudy.faults.CrashRetries;
import understudy.faults.FaultParser;
import understudy.faults.FaultPlan;
import understudy.workload.RandomStreams;

/** Draw of the section {@code faults}: mostly of what can be carried out, and sometimes of what cannot. */
final class FaultDraw {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int MAX_ENTRIES = 6;
    private static final List<String> KINDS = FaultParser.names();

    private final Draft draft;
    private final Dice dice;
    private final int numReplicas;
    private final boolean isResizable;
    private final int startupMillis;
    private final List<FaultPlan.TimedChange> changes = new ArrayList<>();

    FaultDraw(Draft draft, int numReplicas) {
        this.draft = draft;
        dice = draft.dice;
        this.numReplicas = numReplicas;
        isResizable = !draft.settings.containsKey("kv-cache.sessions") && !draft.settings.containsKey("engine.kind");
        startupMillis = dice.pick(List.of(0, 20, 1000));
    }

    /** Draws the settings, and returns the entries of the plan. */
    List<String> draw() {
        draft.set("faults.startup-time", startupMillis + "ms");
        draft.maybePick("faults.on-crash", "fail", "reroute", "resume");
        boolean isChecked = !dice.oneIn(10);
        var plan = new ArrayList<String>();
        for (int i = dice.oneIn(2) ? 0 : dice.between(1, MAX_ENTRIES); i > 0; i--) {
            var entry = entry();
            if (isPossible(entry) || !isChecked) {
                plan.add(text(entry));
            }
        }
        return plan;
    }

    private Map<String, String> entry() {
        String kind = dice.pick(KINDS);
        var entry = new LinkedHashMap<String, String>();
        entry.put("at", dice.between(0, dice.pick(List.of(100, 1000, 5000))) + "ms");
        entry.put("do", kind);
        if (!kind.equals("add")) {
            entry.put("replica", String.valueOf(dice.between(0, numReplicas)));
        }
        drawStrength(kind, entry);
        if (dice.oneIn(3)) {
            entry.put("for", dice.between(0, 1000) + "ms");
        }
        return entry;
    }

    private void drawStrength(String kind, Map<String, String> entry) {
        switch (kind) {
            case "slow-gpu" -> entry.put("factor", dice.pick(List.of("0.01", "3", "20")));
            case "shrink-kv" -> entry.put("num-gpu-blocks", String.valueOf(dice.between(2, 60)));
            case "slow-link" -> drawLink(entry, "factor");
            case "fail-transfers" -> drawLink(entry, "rate");
            case "lose-kv" -> entry.put("share", dice.pick(List.of("0.5", "1")));
            case "error-rate" -> entry.put("rate", dice.pick(List.of("0", "0.3", "1")));
            case "error-sequence" -> entry.put("count", String.valueOf(dice.between(0, 5)));
            case "cut-streams" -> drawStream(entry, "after-tokens");
            case "malform-streams" -> drawStream(entry, "at-token");
            case "latency-spike" -> entry.put("delay", dice.between(0, 2000) + "ms");
            default -> {
                // The others have no strength.
            }
        }
    }

    private void drawStream(Map<String, String> entry, String key) {
        entry.put("rate", dice.pick(List.of("0.3", "1")));
        entry.put(key, String.valueOf(dice.between(1, 5)));
    }

    private void drawLink(Map<String, String> entry, String key) {
        String link = dice.pick(List.of("network", "host"));
        if (link.equals("network") && key.equals("rate")) {
            entry.remove("replica");
        }
        entry.put("link", link);
        entry.put(key, dice.pick(List.of("0", "0.1", "1")));
    }

    /** Returns whether an entry can be carried out with those before it, and keeps it if so. */
    private boolean isPossible(Map<String, String> entry) {
        if (entry.containsValue("shrink-kv") && !isResizable) {
            return false;
        }
        var longer = new ArrayList<>(changes);
        try {
            longer.addAll(FaultParser.parseTimed(entry));
        } catch (IllegalArgumentException e) {
            return false; // it takes no duration
        }
        var plan = new FaultPlan(longer, CrashRetries.NONE, startupMillis * NANOS_PER_MILLI, new RandomStreams(0));
        if (plan.refusal(numReplicas).isPresent()) {
            return false;
        }
        changes.clear();
        changes.addAll(longer);
        return true;
    }

    private static String text(Map<String, String> entry) {
        return entry.entrySet().stream()
                .map(field -> field.getKey() + " = " + field.getValue())
                .collect(Collectors.joining(", ", "{ ", " }"));
    }
}
