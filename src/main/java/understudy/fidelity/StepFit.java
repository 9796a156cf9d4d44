package understudy.fidelity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import understudy.latency.ProfileFit;
import understudy.latency.ProfileFit.Measurement;
import understudy.latency.ProfileLatency;
import understudy.scenario.GpuFile;
import understudy.settings.Section;

/**
 * Device in five numbers, fitted to steps. A number that the steps tell nothing about is that of a generic device which is
 * as fast in these steps.
 *
 * @param device the numbers
 * @param guessed names of the numbers that the steps tell nothing about
 * @param entangled names of numbers of which they tell only what comes of them together
 */
record StepFit(ProfileLatency device, List<String> guessed, List<String> entangled) {
    private static final List<String> NAMES =
            List.of("weights", "per-token", "per-kv-token", "per-attention-pair", "per-mixed-kv-token");

    /** Figures that a step's time alone cannot tell. */
    private static final List<String> NOT_FITTED = List.of("gemm", "attention", "all-reduce", "experts");

    /** Least change of the steps' times, as a share, by which a number shows. */
    private static final double LEAST_EFFECT = 0.01;

    static StepFit of(List<Measurement> steps) {
        double[] fitted = numbers(ProfileFit.fit(steps));
        double[] generic = generic(steps);
        var effects = new StepEffects(steps, fitted, generic);
        IntPredicate isGuessed = i -> effects.alone(i) < LEAST_EFFECT;
        double[] all = IntStream.range(0, fitted.length)
                .mapToDouble(i -> isGuessed.test(i) ? generic[i] : fitted[i])
                .toArray();
        return new StepFit(
                device(all),
                names(isGuessed),
                names(i -> !isGuessed.test(i) && effects.besideOthers(i) < LEAST_EFFECT));
    }

    private static List<String> names(IntPredicate condition) {
        return IntStream.range(0, NAMES.size())
                .filter(condition)
                .mapToObj(NAMES::get)
                .toList();
    }

    /** Returns the numbers that scenarios have by default, all longer or shorter by the same factor. */
    private static double[] generic(List<Measurement> steps) {
        var usual = GpuFile.genericProfile();
        double[] factors = steps.stream()
                .mapToDouble(step -> step.nanos() / usual.stepNanos(step.batch()))
                .sorted()
                .toArray();
        double factor = factors[factors.length / 2];
        return Arrays.stream(numbers(usual)).map(number -> number * factor).toArray();
    }

    static double[] numbers(ProfileLatency device) {
        return new double[] {
            device.weightsNanos(),
            device.perTokenNanos(),
            device.perKvTokenNanos(),
            device.perAttentionPairNanos(),
            device.perMixedKvTokenNanos()
        };
    }

    static ProfileLatency device(double[] numbers) {
        return new ProfileLatency(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }

    /** Returns by how many percent the device is off at a step; above 0 if it takes too long. */
    double errorPercent(Measurement step) {
        return (device.stepNanos(step.batch()) / step.nanos() - 1) * 100;
    }

    /**
     * Returns the result.
     *
     * @param source file, and how well its steps are met
     * @param base figures that the fit does not give, or defaults if there is no data sheet
     */
    Calibration calibration(String table, String source, Section base, boolean hasDataSheet) {
        var assumed = hasDataSheet ? base.texts("assumed") : NOT_FITTED;
        boolean isFitted = guessed.size() + entangled.size() < NAMES.size();
        var fitted = base.with("profile", profile())
                .with("source", "calibrate " + source)
                .with("status", isFitted ? "fitted" : "assumed")
                .with(
                        "assumed",
                        Stream.concat(assumed.stream(), guessed.stream()).toList());
        return new Calibration(table, fitted, warnings());
    }

    /** Returns what the steps do not tell, a line each. */
    List<String> warnings() {
        var warnings = new ArrayList<String>();
        if (!guessed.isEmpty()) {
            warnings.add("warning: these steps do not tell " + String.join(", ", guessed)
                    + "; taken from a generic device of the same speed");
        }
        if (!entangled.isEmpty()) {
            warnings.add("warning: these batches differ too little to tell " + String.join(", ", entangled)
                    + " apart; only together with the other numbers are they right");
        }
        return warnings;
    }

    /** Returns the section {@code profile}. */
    Map<String, Object> profile() {
        double[] numbers = numbers(device);
        var profile = new LinkedHashMap<String, Object>();
        for (int i = 0; i < numbers.length; i++) {
            profile.put(NAMES.get(i), String.format(Locale.ROOT, "%.6gns", numbers[i]));
        }
        return profile;
    }
}
