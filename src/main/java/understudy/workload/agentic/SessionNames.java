package understudy.workload.agentic;

import java.util.Locale;

/** Kinds of session files, told apart by the endings of their names. */
final class SessionNames {
    private SessionNames() {}

    /** Returns whether a file has sessions, and is not a licence or the like. */
    static boolean isSession(String name) {
        var plain = withoutGz(name);
        return plain.endsWith(".json") || plain.endsWith(".jsonl");
    }

    /** Returns whether each line of a file is a session. */
    static boolean isLines(String name) {
        return withoutGz(name).endsWith(".jsonl");
    }

    static boolean isTar(String name) {
        var lower = lower(name);
        return lower.endsWith(".tar") || lower.endsWith(".tar.gz") || lower.endsWith(".tgz");
    }

    private static String withoutGz(String name) {
        var lower = lower(name);
        return lower.endsWith(".gz") ? lower.substring(0, lower.length() - ".gz".length()) : lower;
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
