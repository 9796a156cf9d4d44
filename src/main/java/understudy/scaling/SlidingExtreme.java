package understudy.scaling;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntBinaryOperator;

/** Lowest or highest of the numbers of a sliding window, at a constant cost per number. */
final class SlidingExtreme {
    private final IntBinaryOperator extreme;
    private final long windowNanos;

    /** Numbers that no later one beats, the oldest first. */
    private final Deque<Timed> candidates = new ArrayDeque<>();

    private record Timed(long atNanos, int number) {}

    /** @param extreme {@code Math::min} or {@code Math::max} */
    SlidingExtreme(IntBinaryOperator extreme, long windowNanos) {
        this.extreme = extreme;
        this.windowNanos = windowNanos;
    }

    /** Adds a number that is not older than those before. */
    void add(long atNanos, int number) {
        while (!candidates.isEmpty() && extreme.applyAsInt(candidates.getLast().number, number) == number) {
            candidates.removeLast();
        }
        candidates.add(new Timed(atNanos, number));
    }

    /** Returns the extreme of {@code number} and those that are younger than the window. */
    int with(int number, long nowNanos) {
        while (!candidates.isEmpty() && candidates.element().atNanos <= nowNanos - windowNanos) {
            candidates.remove();
        }
        return candidates.isEmpty() ? number : extreme.applyAsInt(candidates.element().number, number);
    }
}
