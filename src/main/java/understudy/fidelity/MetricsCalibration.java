package understudy.fidelity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.adopt.EngineName;
import understudy.adopt.MetricsPage;
import understudy.fidelity.probe.DelayFit;
import understudy.latency.BatchShape;
import understudy.latency.ProfileLatency;
import understudy.scenario.GpuFile;
import understudy.settings.ScenarioException;

/**
 * Fits the pace of a device to two scrapes of a loaded server. Its histograms have exact sums, so that the mean time between
 * two tokens of an answer is known, and so is the mean step. That is one number: all five of a generic device are longer or
 * shorter by the same factor.
 */
public final class MetricsCalibration {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    /** Histograms are observed a little later than counters are counted. */
    private static final double TOLERANCE = 1.05;

    private final MetricsPage before;
    private final MetricsPage after;
    private final EngineName engine;
    private final String prefix;

    private MetricsCalibration(MetricsPage before, MetricsPage after) {
        this.before = before;
        this.after = after;
        engine = after.engine();
        prefix = engine == EngineName.VLLM ? "vllm:" : "sglang:";
        if (before.engine() != engine) {
            throw new ScenarioException(before.name() + ": metrics of "
                    + before.engine().title() + ", but " + after.name() + " has those of " + engine.title());
        }
    }

    /** Sum and number of what a histogram has observed between the two scrapes. */
    private record Observed(double sum, double count) {
        double mean() {
            return sum / count;
        }
    }

    /**
     * Steps between the two scrapes.
     *
     * @param numSteps how many there were
     * @param numDecodes mean decodes of a step
     * @param context mean tokens of context of a decode
     * @param numPrompts prompts that were computed
     * @param promptTokens mean tokens computed of a prompt
     * @param cachedTokens mean tokens of a prompt that were in the cache
     */
    private record Load(
            double numSteps,
            double numDecodes,
            double context,
            double numPrompts,
            double promptTokens,
            double cachedTokens) {

        double shareWithPrompt() {
            return Math.min(1, numPrompts / numSteps);
        }

        BatchShape batch(boolean hasDecodes, boolean hasPrompt) {
            var batch = new BatchShape.Builder();
            for (int i = 0; hasDecodes && i < Math.max(1, Math.round(numDecodes)); i++) {
                batch.add(1, (int) Math.round(context), true);
            }
            if (hasPrompt) {
                batch.add((int) Math.max(2, Math.round(promptTokens)), (int) Math.round(cachedTokens), true);
            }
            return batch.build();
        }
    }

    /**
     * Fits.
     *
     * @param gpu name for {@code latency.gpu}, or null
     * @throws ScenarioException if the pages are not two scrapes of one server with some load between them
     */
    public static ServerCalibration of(MetricsPage before, MetricsPage after, @Nullable String gpu) {
        return new MetricsCalibration(before, after).fit(gpu);
    }

    private ServerCalibration fit(@Nullable String gpu) {
        var gaps = firstOf("inter_token_latency_seconds", "time_per_output_token_seconds");
        if (gaps.count > TOLERANCE * counter("generation_tokens_total")) {
            throw new ScenarioException(String.format(
                    Locale.ROOT,
                    "%s: %.0f times between tokens, but %sgeneration_tokens_total rose by %.0f only",
                    after.name(),
                    gaps.count,
                    prefix,
                    counter("generation_tokens_total")));
        }
        var load = load(gaps);
        var generic = GpuFile.genericProfile();
        double factor = gaps.mean() * NANOS_PER_SECOND / meanGapNanos(generic, load);
        double[] numbers = StepFit.numbers(generic);
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] *= factor;
        }
        var fit = new StepFit(StepFit.device(numbers), List.of(), List.of());
        var delay = delay();
        String summary = String.format(
                Locale.ROOT,
                "%.0f steps, %.1f decodes of %.0f tokens in the mean, a prompt of %.0f tokens in %.1f %% of them",
                load.numSteps,
                load.numDecodes,
                load.context,
                load.promptTokens,
                load.shareWithPrompt() * 100);
        var lines = new ArrayList<String>();
        lines.add(summary);
        lines.add(String.format(
                Locale.ROOT,
                "%.3f ms between tokens in the mean: %.3f times as long as a generic device takes",
                gaps.mean() * NANOS_PER_SECOND / NANOS_PER_MILLI,
                factor));
        prefillCheck(load, fit.device()).ifPresent(lines::add);
        if (delay != null) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%.3f ms of a first token are neither queue nor prefill: the delay before its step",
                    delay.fixedNanos() / NANOS_PER_MILLI));
        }
        return new ServerCalibration(
                String.join("\n", lines),
                ServerCalibration.settings(summary, fit, delay, before.name() + " and " + after.name(), gpu),
                warnings(delay));
    }

    private static List<String> warnings(@Nullable DelayFit delay) {
        var warnings = new ArrayList<String>();
        warnings.add(
                "warning: two scrapes tell one number of a step's time; how weights, tokens and contexts share in it is"
                        + " that of a generic device");
        warnings.add("warning: no delay for each prompt token is told, nor a larger batch than the mean");
        if (delay == null) {
            warnings.add("warning: the delay before a first step is not told; latency.api-delay keeps its default");
        }
        return warnings;
    }

    /** A request has a token in each step; SGLang's prefills come between two, vLLM's are in the step. */
    private double meanGapNanos(ProfileLatency device, Load load) {
        double decodeNanos = device.stepNanos(load.batch(true, false));
        double share = load.shareWithPrompt();
        return engine == EngineName.VLLM
                ? (1 - share) * decodeNanos + share * device.stepNanos(load.batch(true, true))
                : decodeNanos + share * device.stepNanos(load.batch(false, true));
    }

    private Load load(Observed gaps) {
        var first = firstOf("time_to_first_token_seconds");
        double prompt = counter("prompt_tokens_total");
        double cached = Math.min(
                prompt,
                Stream.of("prompt_tokens_cached_total", "cached_tokens_total", "prefix_cache_hits_total")
                        .filter(this::has)
                        .mapToDouble(this::counter)
                        .findFirst()
                        .orElse(0));
        double output = counter("generation_tokens_total");
        double context = (prompt + output / 2) / first.count;
        double numDecodes;
        double numSteps;
        if (engine == EngineName.VLLM) {
            numSteps = firstOf("iteration_tokens_total").count;
            numDecodes = gaps.count / numSteps;
        } else {
            numDecodes = Math.max(1, (gauge(before) + gauge(after)) / 2);
            numSteps = gaps.count / numDecodes;
        }
        return new Load(
                numSteps, numDecodes, context, first.count, (prompt - cached) / first.count, cached / first.count);
    }

    private double gauge(MetricsPage page) {
        return page.all(prefix + "num_running_reqs")
                .mapToDouble(MetricsPage.Sample::value)
                .average()
                .orElseThrow(() -> missing(page, "num_running_reqs"));
    }

    /** Returns what of the time to first tokens is neither queue nor prefill; null where the engine does not tell. */
    private @Nullable DelayFit delay() {
        if (!has("request_queue_time_seconds_count") || !has("request_prefill_time_seconds_count")) {
            return null;
        }
        double seconds = firstOf("time_to_first_token_seconds").mean()
                - firstOf("request_queue_time_seconds").mean()
                - firstOf("request_prefill_time_seconds").mean();
        return new DelayFit(Math.max(0, seconds * NANOS_PER_SECOND), 0, Double.POSITIVE_INFINITY);
    }

    /** Not fitted to, since a step that is under way as the prompt is scheduled may be in it. */
    private Optional<String> prefillCheck(Load load, ProfileLatency device) {
        if (!has("request_prefill_time_seconds_count")) {
            return Optional.empty();
        }
        return Optional.of(String.format(
                Locale.ROOT,
                "a prefill took %.3f ms in the mean; a step with such a prompt is fitted to %.3f ms, and with the one before"
                        + " it %.3f ms",
                firstOf("request_prefill_time_seconds").mean() * NANOS_PER_SECOND / NANOS_PER_MILLI,
                device.stepNanos(load.batch(true, true)) / NANOS_PER_MILLI,
                (device.stepNanos(load.batch(true, true)) + device.stepNanos(load.batch(true, false)))
                        / NANOS_PER_MILLI));
    }

    /** Returns the first of some histograms that the server has. */
    private Observed firstOf(String... names) {
        for (String name : names) {
            if (has(name + "_count")) {
                var observed = new Observed(counter(name + "_sum"), counter(name + "_count"));
                if (observed.count == 0) {
                    throw new ScenarioException(after.name() + ": " + prefix + name + " has observed nothing since "
                            + before.name() + "; the two must have load between them");
                }
                return observed;
            }
        }
        throw missing(after, String.join(" or " + prefix, names));
    }

    private ScenarioException missing(MetricsPage page, String name) {
        return new ScenarioException(page.name() + ": has no " + prefix + name);
    }

    private boolean has(String name) {
        return sum(after, name).isPresent();
    }

    /** Returns by how much a counter of all engines together has risen. */
    private double counter(String name) {
        double end = sum(after, name).orElseThrow(() -> missing(after, name));
        double risen = end - sum(before, name).orElse(0);
        if (risen < 0) {
            throw new ScenarioException(after.name() + ": " + prefix + name + " is lower than in " + before.name()
                    + "; the server has started anew, or the two are in the wrong order");
        }
        return risen;
    }

    private OptionalDouble sum(MetricsPage page, String name) {
        double[] values =
                page.all(prefix + name).mapToDouble(MetricsPage.Sample::value).toArray();
        return values.length == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(Arrays.stream(values).sum());
    }
}
