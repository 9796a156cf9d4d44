package understudy.chaos.autoscaler.plane;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Fault of the metrics or of the scale subresource.
 *
 * @param kind what goes wrong
 * @param instance replica whose metrics it concerns; empty for all, the router's included
 * @param series figures that are replaced, by name; with {@link Kind#VANISHED_SERIES} those that are left out
 * @param delayMillis how late answers come, if they are late
 */
public record PlaneFault(Kind kind, Optional<String> instance, Map<String, String> series, int delayMillis) {

    public PlaneFault {
        series = Map.copyOf(series);
    }

    /** Kind of fault. */
    public enum Kind {
        /** Series are missing: those that are named, or all. */
        VANISHED_SERIES(true),
        /** Series have other figures. */
        FALSE_METRICS(true),
        /** Figures and their time stamps stay as they are; replicas and router cannot be scraped. */
        STALE_METRICS(true),
        /** Counters begin again at 0. */
        RESTARTED_COUNTERS(false),
        /** Metrics are asked for, and never come. */
        HUNG_METRICS(true),
        /** Metrics answer 500. */
        FAILED_METRICS(true),
        /** Every second write that names a version finds that somebody else has written meanwhile. */
        SCALE_CONFLICTS(false),
        /** The scale subresource answers 500. */
        FAILED_SCALE(false),
        /** The scale subresource answers late. */
        LATE_SCALE(false);

        private final boolean isBlinding;

        Kind(boolean isBlinding) {
            this.isBlinding = isBlinding;
        }

        /** Returns whether the load cannot be known from the metrics while it lasts. */
        public boolean isBlinding() {
            return isBlinding;
        }

        /** Returns the name that scenarios use. */
        public String written() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Returns whether it concerns the series of an instance. */
    boolean concerns(String other) {
        return instance.map(other::equals).orElse(true);
    }
}
