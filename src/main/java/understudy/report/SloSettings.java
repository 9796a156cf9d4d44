package understudy.report;

import java.util.TreeMap;
import understudy.settings.KnownKeys;
import understudy.settings.Section;

/** The section {@code slo}. */
public final class SloSettings {
    private static final String CLASSES = "classes";
    private static final String PRIORITY = "priority";

    private SloSettings() {}

    public static ServiceLevels read(Section slo) {
        var others = limits(slo);
        var usual = slo.without(CLASSES);
        var byPriority = new TreeMap<Integer, ServiceLevels.Limits>();
        for (var element : slo.sections(CLASSES)) {
            new KnownKeys(usual.with(PRIORITY, 0).at(element.path())).check(element);
            int priority = element.wholeNumber(PRIORITY, Integer.MIN_VALUE, Integer.MAX_VALUE);
            var limits = limits(element.withFallback(usual));
            if (byPriority.put(priority, limits) != null) {
                throw element.unusable(PRIORITY, "which another class has already");
            }
        }
        return new ServiceLevels(byPriority, others);
    }

    private static ServiceLevels.Limits limits(Section section) {
        return new ServiceLevels.Limits(
                limitNanos(section, "ttft"),
                limitNanos(section, "tpot"),
                limitNanos(section, "e2el"),
                section.number("attainment", 0, 1));
    }

    private static long limitNanos(Section section, String key) {
        var nanos = section.nanosOrOff(key);
        return nanos.isPresent() ? Math.round(nanos.getAsDouble()) : ServiceLevels.Limits.OFF;
    }
}
