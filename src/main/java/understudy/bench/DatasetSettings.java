package understudy.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/** Settings of the section {@code workload} for data sets of engines' benchmarks: requests that stand alone. */
public final class DatasetSettings {
    private static final String PREFIXES = "workload.prefix-groups.";

    private final Map<String, String> settings = new LinkedHashMap<>();

    private DatasetSettings(long numRequests) {
        settings.put("workload.requests", String.valueOf(numRequests));
        settings.put("workload.sessions.turns.kind", "fixed");
        settings.put("workload.sessions.turns.mean", "1");
        settings.put(PREFIXES + "count", "0");
    }

    /** Creates settings of requests that are made up, whose prompts have nothing in common. */
    public static DatasetSettings generated(long numRequests) {
        var made = new DatasetSettings(numRequests);
        made.settings.put("workload.kind", "generated");
        return made;
    }

    /**
     * Creates settings of requests from a file of chats.
     *
     * @param outputLength tokens of each answer, or 0 for as many as in the file
     */
    public static DatasetSettings shareGpt(long numRequests, String path, int outputLength) {
        var made = new DatasetSettings(numRequests);
        made.settings.put("workload.kind", "sharegpt");
        made.settings.put("workload.trace", path);
        made.settings.put("workload.sharegpt-output-len", String.valueOf(outputLength));
        return made;
    }

    /** Draws the lengths of prompts and of answers from the least to the most, each as likely. */
    public DatasetSettings lengths(String promptOrOutput, long least, long most) {
        String key = "workload.lengths." + promptOrOutput + ".";
        settings.put(key + "kind", "uniform");
        settings.put(key + "min", String.valueOf(least));
        settings.put(key + "max", String.valueOf(most));
        return this;
    }

    /** Has prompts begin with one of so many prefixes of that many tokens. */
    public DatasetSettings prefixes(int count, int length) {
        settings.put(PREFIXES + "count", String.valueOf(count));
        settings.put(PREFIXES + "length.kind", "fixed");
        settings.put(PREFIXES + "length.mean", String.valueOf(length));
        return this;
    }

    /** Has each prefix begin so many prompts, and the prefixes take turns. */
    public DatasetSettings promptsPerPrefix(long count) {
        settings.put(PREFIXES + "prompts-per-group", String.valueOf(count));
        settings.put(PREFIXES + "prompt-order", "in-turn");
        return this;
    }

    /** Returns the settings by key. */
    public Map<String, String> byKey() {
        return Map.copyOf(settings);
    }
}
