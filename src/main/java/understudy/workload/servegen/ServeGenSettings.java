package understudy.workload.servegen;

import java.util.List;
import understudy.settings.Section;

/** The section {@code workload.servegen}. */
public final class ServeGenSettings {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MAX_SCALE = 1e6;
    private static final String WHY = "but servegen needs a directory, or a tar archive";

    private ServeGenSettings() {}

    /** Reads and checks the section but for the services, which only this kind of workload needs. */
    public static ServeGenOptions read(Section servegen) {
        return new ServeGenOptions(
                List.of(),
                seconds(servegen, "start", 0),
                seconds(servegen, "duration", 1),
                servegen.wholeNumber("clients", 0, Integer.MAX_VALUE),
                servegen.bool("reasoning"),
                servegen.bool("coupled-lengths"));
    }

    private static long seconds(Section section, String key, long min) {
        double seconds = section.nanos(key) / NANOS_PER_SECOND;
        if (seconds < min || seconds != Math.rint(seconds)) {
            throw section.unusable(key, "must be whole seconds of at least " + min);
        }
        return (long) seconds;
    }

    /** Reads the services: those of the section, or the trace of the workload alone. */
    public static ServeGenOptions withServices(Section workload, ServeGenOptions options) {
        var servegen = workload.section("servegen");
        double scale = scale(servegen);
        var services = servegen.sections("services").stream()
                .map(each -> new ServeGenOptions.Service(
                        each.path("path", WHY), each.has("rate-scale") ? scale * scale(each) : scale))
                .toList();
        return options.with(
                services.isEmpty()
                        ? List.of(new ServeGenOptions.Service(workload.path("trace", WHY), scale))
                        : services);
    }

    private static double scale(Section section) {
        return section.number("rate-scale", 1 / MAX_SCALE, MAX_SCALE);
    }
}
