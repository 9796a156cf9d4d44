package understudy.fuzz;

import java.util.List;
import java.util.Locale;
import org.apache.commons.rng.UniformRandomProvider;

/** Random choices. */
record Dice(UniformRandomProvider random) {

    boolean oneIn(int sides) {
        return random.nextInt(sides) == 0;
    }

    /** Returns a number from {@code min} to {@code max}, both included. */
    int between(int min, int max) {
        return random.nextInt(min, max + 1);
    }

    <T> T pick(List<? extends T> values) {
        return values.get(random.nextInt(values.size()));
    }

    /** Returns a constant as it is written in a scenario. */
    String pick(Enum<?>[] constants) {
        return pick(List.of(constants)).name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
