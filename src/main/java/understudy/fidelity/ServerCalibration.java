package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.fidelity.probe.DelayFit;
import understudy.fidelity.probe.Probing;
import understudy.latency.BatchShape;
import understudy.latency.ProfileFit.Measurement;
import understudy.report.Tables;
import understudy.report.latency.LatencyStats;

/**
 * Device in five numbers, and the delay before a first step, fitted to a live server.
 *
 * @param table residuals by group of probes, for people
 * @param settings the section {@code latency} of a scenario, as text
 * @param warnings what was not told, a line each
 */
public record ServerCalibration(String table, String settings, List<String> warnings) {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int SHORT_CONTEXT = 1024;
    private static final int MANY_DECODES = 2;

    /** Fewest steps for a fit; with fewer than numbers to find, any fit is exact. */
    private static final int LEAST_STEPS = 6;

    private static final double POOR_PERCENT = 10;

    /**
     * Names of what was probed.
     *
     * @param server address and model, for people
     * @param gpu name for {@code latency.gpu}, or null for none
     * @param roundTripNanos what the network adds to the time to a first token
     */
    public record Source(String server, @Nullable String gpu, double roundTripNanos) {}

    /** Probes of a kind, in the order of {@link #ordinal}. */
    private enum Group {
        SHORT_DECODES("decodes, short contexts"),
        LONG_DECODES("decodes, long contexts"),
        BESIDE_ONE("a prompt beside one decode"),
        BEHIND_PREFIX("a prompt behind a cached prefix"),
        BESIDE_MANY("a prompt beside several decodes"),
        ALONE("a prompt between decodes"),
        COLD("first token of an idle server, cold"),
        WARM("first token of an idle server, warm");

        private final String title;

        Group(String title) {
            this.title = title;
        }

        static Group of(BatchShape batch) {
            if (batch.numChunks() == 0) {
                return batch.decodeKvTokens() < (long) SHORT_CONTEXT * batch.numDecodes()
                        ? SHORT_DECODES
                        : LONG_DECODES;
            }
            if (batch.chunkContextTokens(0) > 0) {
                return BEHIND_PREFIX;
            }
            if (batch.numDecodes() == 0) {
                return ALONE;
            }
            return batch.numDecodes() < MANY_DECODES ? BESIDE_ONE : BESIDE_MANY;
        }
    }

    /** A measured time, and what the fit says. */
    private record Residual(double nanos, double fittedNanos) {
        double percent() {
            return Math.abs(fittedNanos / nanos - 1) * 100;
        }
    }

    private record Row(Group group, List<Residual> residuals) {
        double medianMillis() {
            return percentile(
                            50, residuals.stream().mapToDouble(Residual::nanos).toArray())
                    / NANOS_PER_MILLI;
        }

        double medianPercent() {
            return percentile(50, percents());
        }

        double maxPercent() {
            return percentile(100, percents());
        }

        private double[] percents() {
            return residuals.stream().mapToDouble(Residual::percent).toArray();
        }

        private static double percentile(double rank, double[] numbers) {
            return LatencyStats.percentile(numbers, rank);
        }
    }

    /**
     * Fits.
     *
     * @throws UnfitProbesException if too little was measured
     */
    public static ServerCalibration of(Probing.Result probed, Source source) {
        boolean isNoisy = 2 * probed.steps().size() < probed.numPlannedSteps();
        if (isNoisy
                || probed.steps().size() < LEAST_STEPS
                || probed.firstTokens().isEmpty()) {
            throw new UnfitProbesException(
                    source.server + ": " + probed.steps().size() + " of " + probed.numPlannedSteps()
                            + " steps show in when tokens came, too few to fit"
                            + probed.leftOut().stream()
                                    .map(line -> "; left out: " + line)
                                    .collect(Collectors.joining()));
        }
        var fit = StepFit.of(probed.steps());
        var delay = DelayFit.of(probed.firstTokens().stream()
                .map(token -> new DelayFit.Point(
                        token.numPromptTokens(),
                        token.nanos() - source.roundTripNanos,
                        fit.device().stepNanos(token.batch())))
                .toList());
        var groups = new TreeMap<Group, List<Residual>>();
        for (var step : probed.steps()) {
            add(Group.of(step.batch()), residual(step, fit), groups);
        }
        for (var token : probed.firstTokens()) {
            double fitted = source.roundTripNanos
                    + delay.nanos(token.numPromptTokens())
                    + fit.device().stepNanos(token.batch());
            boolean isWarm = token.batch().numChunks() == 0 || token.batch().chunkContextTokens(0) > 0;
            add(isWarm ? Group.WARM : Group.COLD, new Residual(token.nanos(), fitted), groups);
        }
        var rows = groups.entrySet().stream()
                .map(entry -> new Row(entry.getKey(), entry.getValue()))
                .toList();
        String summary = summary(probed, fit);
        return new ServerCalibration(
                table(rows) + "\n" + summary + "\n" + attribution(source.roundTripNanos, delay),
                settings(summary, fit, delay, source.server, source.gpu),
                warnings(probed, fit, delay));
    }

    private static Residual residual(Measurement step, StepFit fit) {
        return new Residual(step.nanos(), fit.device().stepNanos(step.batch()));
    }

    private static void add(Group group, Residual residual, TreeMap<Group, List<Residual>> groups) {
        groups.computeIfAbsent(group, unused -> new ArrayList<>()).add(residual);
    }

    private static double meanErrorPercent(Probing.Result probed, StepFit fit) {
        return probed.steps().stream()
                .mapToDouble(step -> Math.abs(fit.errorPercent(step)))
                .average()
                .orElse(0);
    }

    private static String summary(Probing.Result probed, StepFit fit) {
        return String.format(
                Locale.ROOT,
                "%d requests, %d of %d steps are known, mean absolute error %.1f %%",
                probed.numRequests(),
                probed.steps().size(),
                probed.numPlannedSteps(),
                meanErrorPercent(probed, fit));
    }

    private static String attribution(double roundTripNanos, DelayFit delay) {
        return String.format(
                Locale.ROOT,
                "of a first token: %.3f ms are the network's round trip, as of GET /health, and in no setting; %.3f ms and"
                        + " %.3f us per prompt token are the delay before its step",
                roundTripNanos / NANOS_PER_MILLI,
                delay.fixedNanos() / NANOS_PER_MILLI,
                delay.perTokenNanos() / 1e3);
    }

    private static String table(List<Row> rows) {
        List<ColumnData<Row>> columns = List.of(
                Tables.words("probes", row -> row.group.title),
                Tables.counts("measured", row -> row.residuals.size()),
                Tables.decimals("median ms", "%.3f", Row::medianMillis),
                Tables.decimals("median error", "%.1f %%", Row::medianPercent),
                Tables.decimals("largest", "%.1f %%", Row::maxPercent));
        return Tables.text(rows, columns);
    }

    private static List<String> warnings(Probing.Result probed, StepFit fit, DelayFit delay) {
        var warnings = new ArrayList<>(fit.warnings());
        double error = meanErrorPercent(probed, fit);
        if (error > POOR_PERCENT) {
            warnings.add(String.format(
                    Locale.ROOT,
                    "warning: five numbers do not describe this server's steps: %.1f %% off on average; a mixture of"
                            + " experts has others, and a busy machine disturbs",
                    error));
        }
        if (delay.unseenPerTokenNanos() > 0) {
            warnings.add(
                    Double.isFinite(delay.unseenPerTokenNanos())
                            ? String.format(
                                    Locale.ROOT,
                                    "warning: no delay for each prompt token is seen; it is less than %.3f us",
                                    delay.unseenPerTokenNanos() / 1e3)
                            : "warning: prompts of one length do not tell the delay for each token");
        }
        probed.leftOut().forEach(line -> warnings.add("warning: left out: " + line));
        return warnings;
    }

    /**
     * Returns the section {@code latency} of a fit.
     *
     * @param summary how well the fit meets what was measured
     * @param delay before a first step, or null to leave it at its default
     * @param source name of what was measured
     * @param gpu name for {@code latency.gpu}, or null
     */
    static String settings(String summary, StepFit fit, @Nullable DelayFit delay, String source, @Nullable String gpu) {
        var text = new StringBuilder();
        text.append("# Step times of ").append(source).append(", by understudy calibrate:\n");
        text.append("# ").append(summary).append(".\n");
        if (!fit.guessed().isEmpty()) {
            text.append("# Not measured, but of a generic device of the same speed: ")
                    .append(String.join(", ", fit.guessed()))
                    .append(".\n");
        }
        text.append("# A scenario takes it by include \"FILE\".\n");
        text.append("latency {\n  model = profile\n");
        if (gpu != null) {
            text.append("  gpu = \"").append(gpu).append("\"\n");
        }
        if (delay != null) {
            text.append(setting("  api-delay", delay.fixedNanos()));
            text.append(setting("  api-delay-per-prompt-token", delay.perTokenNanos()));
        }
        text.append("  profile {\n");
        fit.profile().forEach((key, value) -> text.append("    " + key + " = " + value + "\n"));
        return text.append("  }\n}\n").toString();
    }

    private static String setting(String key, double nanos) {
        return String.format(Locale.ROOT, "%s = %.6gns\n", key, nanos);
    }
}
