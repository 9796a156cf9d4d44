package understudy.scenario;

import com.typesafe.config.ConfigValueFactory;
import java.util.TreeMap;
import understudy.report.ServiceLevels;
import understudy.settings.KnownKeys;
import understudy.settings.Section;

/** The section {@code slo}. */
final class SloSettings {
    private static final String CLASSES = "classes";
    private static final String PRIORITY = "priority";

    private SloSettings() {}

    static ServiceLevels read(Section slo) {
        var others = limits(slo);
        var usual = slo.config().withoutPath(CLASSES);
        var known = usual.withValue(PRIORITY, ConfigValueFactory.fromAnyRef(0));
        var byPriority = new TreeMap<Integer, ServiceLevels.Limits>();
        for (var element : slo.sections(CLASSES)) {
            new KnownKeys(known.atPath(element.path())).check(element.config().atPath(element.path()));
            int priority = element.wholeNumber(PRIORITY, Integer.MIN_VALUE, Integer.MAX_VALUE);
            var limits = limits(new Section(element.config().withFallback(usual), element.path()));
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
