package understudy.fuzz;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Settings in the making, and the dice that decide on them. */
final class Draft {
    final Dice dice;
    final SortedMap<String, String> settings = new TreeMap<>();

    Draft(Dice dice) {
        this.dice = dice;
    }

    void set(String key, Object value) {
        settings.put(key, String.valueOf(value));
    }

    /** Leaves the default as often as not. */
    void maybe(String key, Supplier<?> value) {
        if (dice.oneIn(2)) {
            set(key, value.get());
        }
    }

    void maybePick(String key, Object... values) {
        maybe(key, () -> dice.pick(List.of(values)));
    }

    void maybePick(String key, Enum<?>[] constants) {
        maybe(key, () -> dice.pick(constants));
    }

    /** Draws the section of a distribution of numbers with a unit, or none. */
    void distribution(String section, int max, String unit) {
        set(section + ".kind", dice.pick(List.of("fixed", "uniform", "normal", "lognormal", "exponential")));
        set(section + ".mean", dice.between(1, max) + unit);
        set(section + ".stddev", dice.between(0, max) + unit);
        set(section + ".max", max + unit);
    }
}
