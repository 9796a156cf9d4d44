package understudy.report;

import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.figure.OwnFigures;

/** Course of what only some families of engines have: of each whole second of virtual time, what its steps had together. */
public final class OwnCourse {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final Map<String, Seconds> byFamily = new LinkedHashMap<>();

    /** Reader of the figures of a second, which begins at {@code startNanos}. */
    interface Reader {
        void read(long startNanos, OwnFigures figures);
    }

    /** Seconds with steps, in order, and their figures. */
    private static final class Seconds {
        final LongArrayList seconds = new LongArrayList();
        final List<OwnFigures> figures = new ArrayList<>();

        void add(long second, OwnFigures ofStep) {
            int last = seconds.size() - 1;
            if (last >= 0 && seconds.getLong(last) == second) {
                figures.set(last, figures.get(last).plus(ofStep));
            } else {
                seconds.add(second);
                figures.add(ofStep);
            }
        }
    }

    /** Adds what a step had that ended at {@code atNanos}, which never goes back to an earlier second. */
    public void add(long atNanos, OwnFigures ofStep) {
        if (!ofStep.family().isEmpty()) {
            byFamily.computeIfAbsent(ofStep.family(), family -> new Seconds()).add(atNanos / NANOS_PER_SECOND, ofStep);
        }
    }

    /** Reads the seconds with steps, for each family in order. */
    void forEach(Reader reader) {
        for (var course : byFamily.values()) {
            for (int i = 0; i < course.seconds.size(); i++) {
                reader.read(course.seconds.getLong(i) * NANOS_PER_SECOND, course.figures.get(i));
            }
        }
    }
}
