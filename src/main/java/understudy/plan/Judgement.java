package understudy.plan;

import java.util.Comparator;
import java.util.List;

/**
 * Judgement of one candidate by its runs under one load.
 *
 * @param uses what is used of each limit
 * @param isRefuted whether no longer load can be kept either, nor this one with fewer replicas
 */
public record Judgement(List<Use> uses, boolean isRefuted) {

    /**
     * Part of a limit that is used, with the seed that uses most of it.
     *
     * @param limit in words
     * @param key of the figure in reports; empty for requests without an answer
     * @param value in milliseconds, or a share for goodput
     * @param allowed highest value, or lowest of goodput
     * @param ratio 1 at the limit, more beyond it
     */
    public record Use(String limit, String key, double value, double allowed, double ratio) {}

    /** Returns the limit of which most is used. */
    public Use tightest() {
        return uses.stream().max(Comparator.comparingDouble(Use::ratio)).orElseThrow();
    }

    /** Returns the largest part of a limit that is used; above 1 one is missed. */
    public double ratio() {
        return tightest().ratio();
    }

    /** Returns whether every limit is kept with each seed. */
    public boolean isKept() {
        return ratio() <= 1;
    }
}
