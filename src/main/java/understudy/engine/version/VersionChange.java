package understudy.engine.version;

import java.util.List;

/**
 * A change that a version of an engine brings.
 *
 * @param since the version
 * @param kind what changes
 * @param name of a setting, flag, metric family, endpoint or bug; empty for what has no name
 * @param value what it is from then on: of a setting, or the new name of a flag; else empty
 * @param concerns settings that mean something else from then on
 * @param effect what it does for an operator, in a sentence
 * @param source a public issue or pull request, a document, or our recordings
 * @param isSecondHand whether somebody else has read the source, and nobody here has
 */
public record VersionChange(
        String since,
        Kind kind,
        String name,
        String value,
        List<String> concerns,
        String effect,
        String source,
        boolean isSecondHand) {

    /** What a change is about. */
    public enum Kind {
        /** Default of a setting. */
        DEFAULT,
        /** A rule that is a setting here, and none of the engine's. */
        SWITCH,
        FLAG_ADDED,
        FLAG_REMOVED,
        /** The value is the new name. */
        FLAG_RENAMED,
        METRIC_ADDED,
        METRIC_REMOVED,
        /** An endpoint that is not emulated; those that are go by {@code server.absent-endpoints}. */
        ENDPOINT,
        /** Text or status of an error. */
        ERROR,
        /** A name in {@code engine.known-bugs}. */
        BUG,
        /** What is worth knowing and not emulated. */
        NOTE;

        boolean isSetting() {
            return this == DEFAULT || this == SWITCH;
        }
    }

    public VersionChange {
        concerns = List.copyOf(concerns);
    }
}
