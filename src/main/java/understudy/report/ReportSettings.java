package understudy.report;

import understudy.settings.Section;

/**
 * The section {@code report}.
 *
 * @param timelineSeconds length of the intervals of a report's timeline; 0 is none
 * @param savesDetails whether to keep the time of every token
 */
public record ReportSettings(int timelineSeconds, boolean savesDetails) {

    public static ReportSettings read(Section report) {
        return new ReportSettings(timelineSeconds(report), report.bool("save-detailed"));
    }

    private static int timelineSeconds(Section report) {
        var nanos = report.nanosOrOff("timeline");
        double seconds = nanos.orElse(0) / 1e9;
        if (seconds != Math.rint(seconds) || (nanos.isPresent() && seconds == 0)) {
            throw report.unusable("timeline", "must be off, or whole seconds such as 1s");
        }
        return (int) seconds;
    }
}
