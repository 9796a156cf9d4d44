package understudy.figure;

import java.util.ArrayList;
import java.util.List;

/**
 * Figures of a family, in the order in which they are shown.
 *
 * @param family its name, under which they stand in a report; empty if there are none
 */
public record OwnFigures(String family, List<OwnFigure> figures) {
    public static final OwnFigures NONE = new OwnFigures("", List.of());

    /** Copies the list. */
    public OwnFigures {
        figures = List.copyOf(figures);
    }

    /** Returns these figures and others of the same family together. */
    public OwnFigures plus(OwnFigures other) {
        if (family.isEmpty()) {
            return other;
        }
        if (!other.family.isEmpty() && !other.family.equals(family)) {
            throw new IllegalArgumentException(other.family + " is not " + family);
        }
        return plus(other.figures);
    }

    /** Returns these figures and others of the same family together. */
    public OwnFigures plus(List<OwnFigure> others) {
        return others.isEmpty() ? this : new OwnFigures(family, sum(figures, others));
    }

    /** Returns two lists as one, in which there is one figure of each key. */
    public static List<OwnFigure> sum(List<OwnFigure> some, List<OwnFigure> others) {
        var sum = new ArrayList<>(some);
        for (var other : others) {
            int index = indexOf(other.key(), sum);
            if (index < 0) {
                sum.add(other);
            } else {
                sum.set(index, sum.get(index).plus(other));
            }
        }
        return sum;
    }

    private static int indexOf(String key, List<OwnFigure> figures) {
        for (int i = 0; i < figures.size(); i++) {
            if (figures.get(i).key().equals(key)) {
                return i;
            }
        }
        return -1;
    }
}
