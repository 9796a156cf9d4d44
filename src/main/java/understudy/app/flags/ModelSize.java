package understudy.app.flags;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import understudy.latency.LlmSpec;

/**
 * The size of a model as its name says it: {@code -8B}, {@code -125m}, {@code E4B}, {@code -235B-A22B}, {@code 8x7B}, {@code
 * 17B-16E}.
 *
 * @param billions all weights, or 0 if the name says only how many compute a token
 * @param activeBillions weights that compute a token
 * @param hasExperts whether it is a mixture of experts
 */
record ModelSize(double billions, double activeBillions, boolean hasExperts) {
    private static final String NUMBER = "(?<number>\\d+(?:\\.\\d+)?)";
    private static final Pattern ACTIVE = Pattern.compile("(?<![a-z0-9])a" + NUMBER + "(?<unit>[bm])(?![a-z0-9])");
    private static final Pattern ACTIVE_WITH_COUNT =
            Pattern.compile("(?<![a-z0-9.])" + NUMBER + "(?<unit>b)-\\d+e(?![a-z0-9])");
    private static final Pattern ALL =
            Pattern.compile("(?<![a-z0-9.])(?:(?<experts>\\d+)x)?e?" + NUMBER + "(?<unit>[bmt])(?![a-z0-9])");

    /** Experts of a mixture share the attention, and two of them compute a token. */
    private static final int EXPERTS_PER_TOKEN = 2;

    /** Returns the size in a model's name, or nothing if it has none. */
    static Optional<ModelSize> of(String name) {
        String lower = name.substring(name.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
        var withCount = ACTIVE_WITH_COUNT.matcher(lower);
        if (withCount.find()) {
            return Optional.of(new ModelSize(0, billions(withCount), true));
        }
        var all = ALL.matcher(lower);
        if (!all.find()) {
            return Optional.empty();
        }
        double each = billions(all);
        if (all.group("experts") != null) {
            return Optional.of(
                    new ModelSize(each * Integer.parseInt(all.group("experts")), each * EXPERTS_PER_TOKEN, true));
        }
        var active = ACTIVE.matcher(lower);
        return Optional.of(
                active.find() ? new ModelSize(each, billions(active), true) : new ModelSize(each, each, false));
    }

    private static double billions(Matcher match) {
        double number = Double.parseDouble(match.group("number"));
        return switch (match.group("unit")) {
            case "m" -> number / 1e3;
            case "t" -> number * 1e3;
            default -> number;
        };
    }

    /** Returns how far a model is from this size: factors count, whichever is larger; infinite between the two kinds. */
    double distance(LlmSpec model) {
        if (model.feedForward().numExperts() > 0 != hasExperts) {
            return Double.POSITIVE_INFINITY;
        }
        double ofAll = billions == 0 ? 0 : factor(billions, model.numParams() / 1e9);
        return hasExperts ? ofAll + factor(activeBillions, model.numActiveParams() / 1e9) : ofAll;
    }

    private static double factor(double a, double b) {
        return Math.abs(Math.log(a / b));
    }
}
