package understudy.conform.sglang;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Comparison of recorded fields with replayed ones; numbers are equal by value. */
final class Difference {
    private static final int MAX_SHOWN = 300;

    private Difference() {}

    /** Returns what differs first, or empty if every recorded field is the same. */
    static Optional<String> first(String place, Map<String, ?> expected, Map<String, ?> actual) {
        for (var field : expected.entrySet()) {
            String name = field.getKey();
            if (!actual.containsKey(name)) {
                return Optional.of(place + name + " is not replayed");
            }
            if (!isEqual(field.getValue(), actual.get(name))) {
                return Optional.of(
                        place + name + ": expected " + shown(field.getValue()) + ", actual " + shown(actual.get(name)));
            }
        }
        return Optional.empty();
    }

    private static String shown(@Nullable Object value) {
        String text = String.valueOf(value);
        return text.length() > MAX_SHOWN ? text.substring(0, MAX_SHOWN) + "..." : text;
    }

    private static boolean isEqual(@Nullable Object one, @Nullable Object other) {
        if (one instanceof Number number && other instanceof Number otherNumber) {
            return Double.compare(number.doubleValue(), otherNumber.doubleValue()) == 0;
        }
        if (one instanceof List<?> list && other instanceof List<?> otherList) {
            if (list.size() != otherList.size()) {
                return false;
            }
            for (int i = 0; i < list.size(); i++) {
                if (!isEqual(list.get(i), otherList.get(i))) {
                    return false;
                }
            }
            return true;
        }
        if (one instanceof Map<?, ?> map && other instanceof Map<?, ?> otherMap) {
            return map.keySet().equals(otherMap.keySet())
                    && map.keySet().stream().allMatch(key -> isEqual(map.get(key), otherMap.get(key)));
        }
        return Objects.equals(one, other);
    }
}
