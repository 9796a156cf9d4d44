package understudy.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.settings.ScenarioException;

/**
 * Options of {@code vllm bench serve} that say what is sent and when, each short for settings of the section {@code
 * workload}: the same workload runs in virtual time, too.
 */
public final class WorkloadOptions {
    private static final String RATE = "workload.arrivals.request-rate";
    private static final String RAMP_UP = "workload.arrivals.ramp-up.";

    /** Data sets of vLLM that there are here, too. */
    public enum Dataset {
        RANDOM,
        SHAREGPT,
        PREFIX_REPETITION
    }

    @Option(
            names = "--dataset-name",
            paramLabel = "NAME",
            description = "random, sharegpt or prefix_repetition, as in vLLM; default random if there is no SCENARIO.")
    private @Nullable Dataset dataset;

    @Option(names = "--dataset-path", paramLabel = "FILE", description = "The file of sharegpt.")
    private String datasetPath = "";

    @Option(names = "--num-prompts", paramLabel = "N", description = "Number of requests; 1000 for vLLM's data sets.")
    private @Nullable Long numPrompts;

    @Option(
            names = {"--input-len", "--random-input-len"},
            paramLabel = "N",
            description = "random: prompt tokens, ${DEFAULT-VALUE}.")
    private int inputLength = 1024;

    @Option(
            names = {"--output-len", "--random-output-len", "--sharegpt-output-len", "--prefix-repetition-output-len"},
            paramLabel = "N",
            description = "Answer tokens; default 128, and for sharegpt as many as in the file.")
    private int outputLength;

    @Option(
            names = "--random-range-ratio",
            paramLabel = "R",
            description = "random: lengths are up to this share longer or shorter, from 0 to below 1.")
    private double rangeRatio;

    @Option(
            names = "--random-prefix-len",
            paramLabel = "N",
            description = "random: tokens of a prefix of all prompts, beside their length.")
    private int prefixLength;

    @Option(
            names = "--prefix-repetition-prefix-len",
            paramLabel = "N",
            description = "prefix_repetition: tokens of each prefix, ${DEFAULT-VALUE}.")
    private int repeatedPrefixLength = 256;

    @Option(
            names = "--prefix-repetition-suffix-len",
            paramLabel = "N",
            description = "prefix_repetition: tokens behind it, ${DEFAULT-VALUE}.")
    private int suffixLength = 256;

    @Option(
            names = "--prefix-repetition-num-prefixes",
            paramLabel = "N",
            description = "prefix_repetition: number of prefixes, ${DEFAULT-VALUE}.")
    private int numPrefixes = 10;

    @Option(
            names = "--request-rate",
            paramLabel = "RPS",
            description = "Requests per second, or inf; default inf for vLLM's data sets.")
    private @Nullable String requestRate;

    @Option(
            names = "--burstiness",
            paramLabel = "SHAPE",
            description = "Shape of the gaps: 1 is a Poisson process, less is burstier, inf is a constant rate.")
    private @Nullable String burstiness;

    @Option(
            names = "--scale-gaps",
            negatable = true,
            description = "Gaps are scaled so that the last request leaves at N / RPS; default for vLLM's data sets, as"
                    + " there. A scenario has workload.arrivals.scale-gaps.")
    private @Nullable Boolean scalesGaps;

    @Option(
            names = "--ramp-up-strategy",
            paramLabel = "KIND",
            description = "Rate that rises from the first request to the last: linear or exponential.")
    private @Nullable String rampUpStrategy;

    @Option(names = "--ramp-up-start-rps", paramLabel = "RPS", description = "Rate of the first request.")
    private @Nullable String rampUpStart;

    @Option(names = "--ramp-up-end-rps", paramLabel = "RPS", description = "Rate of the last request.")
    private @Nullable String rampUpEnd;

    @Option(
            names = "--max-concurrency",
            paramLabel = "N",
            description = "Most requests in flight; others wait in the client.")
    private @Nullable Integer maxConcurrency;

    /** Returns whether a rate was given, which a trace cannot follow. */
    public boolean hasRate() {
        return requestRate != null || rampUpStrategy != null;
    }

    /** Returns whether the requests are those of a file of chats, whose answers may end by themselves. */
    public boolean isShareGpt() {
        return dataset == Dataset.SHAREGPT;
    }

    /**
     * Returns the settings that the options are short for.
     *
     * @param hasScenario whether there is a scenario, whose workload holds if no data set is named
     */
    public Map<String, String> settings(boolean hasScenario) {
        var settings = new LinkedHashMap<String, String>();
        if (dataset != null || !hasScenario) {
            putDataset(dataset == null ? Dataset.RANDOM : dataset, settings);
        } else if (numPrompts != null) {
            settings.put("workload.requests", numPrompts.toString());
            settings.put("workload.limit", numPrompts.toString());
        }
        putIfGiven(RATE, requestRate, settings);
        if (burstiness != null) {
            settings.put("workload.arrivals.kind", burstiness.equals("inf") ? "constant" : "gamma");
            settings.put("workload.arrivals.burstiness", burstiness.equals("inf") ? "1" : burstiness);
        }
        putIfGiven("workload.arrivals.scale-gaps", scalesGaps, settings);
        putRampUp(settings);
        putIfGiven("workload.max-concurrency", maxConcurrency, settings);
        return settings;
    }

    private void putRampUp(Map<String, String> settings) {
        if (rampUpStrategy != null && (rampUpStart == null || rampUpEnd == null)) {
            throw new ScenarioException("--ramp-up-strategy: needs --ramp-up-start-rps and --ramp-up-end-rps");
        }
        putIfGiven(RAMP_UP + "strategy", rampUpStrategy, settings);
        putIfGiven(RAMP_UP + "start-rps", rampUpStart, settings);
        putIfGiven(RAMP_UP + "end-rps", rampUpEnd, settings);
    }

    private static void putIfGiven(String key, @Nullable Object value, Map<String, String> settings) {
        if (value != null) {
            settings.put(key, value.toString());
        }
    }

    private void putDataset(Dataset name, Map<String, String> settings) {
        long numRequests = numRequests(name);
        var requests = switch (name) {
            case RANDOM -> random(numRequests);
            case PREFIX_REPETITION -> prefixRepetition(numRequests);
            case SHAREGPT -> DatasetSettings.shareGpt(numRequests, datasetPath, outputLength);
        };
        settings.putAll(requests.byKey());
        settings.put(RATE, "inf");
        settings.put("workload.arrivals.scale-gaps", "true");
    }

    /** Like vLLM, prefix_repetition leaves out requests that would make its prefixes differ in number. */
    private long numRequests(Dataset name) {
        long wanted = Objects.requireNonNullElse(numPrompts, 1000L);
        if (name != Dataset.PREFIX_REPETITION) {
            return wanted;
        }
        if (numPrefixes < 1 || wanted < numPrefixes) {
            throw new ScenarioException("--num-prompts " + wanted + ": must be at least the number of prefixes, "
                    + numPrefixes + " (--prefix-repetition-num-prefixes)");
        }
        return wanted / numPrefixes * numPrefixes;
    }

    private DatasetSettings random(long numRequests) {
        if (!(rangeRatio >= 0 && rangeRatio < 1)) {
            throw new ScenarioException("--random-range-ratio " + rangeRatio + ": must be from 0 to below 1");
        }
        var settings = DatasetSettings.generated(numRequests);
        putLengths("prompt", inputLength, settings);
        putLengths("output", usualOutputLength(), settings);
        return prefixLength > 0 ? settings.prefixes(1, prefixLength) : settings;
    }

    private void putLengths(String name, int length, DatasetSettings settings) {
        settings.lengths(name, (long) Math.max(1, Math.floor(length * (1 - rangeRatio))), (long)
                Math.ceil(length * (1 + rangeRatio)));
    }

    private DatasetSettings prefixRepetition(long numRequests) {
        return DatasetSettings.generated(numRequests)
                .lengths("prompt", Math.max(1, suffixLength), suffixLength)
                .lengths("output", usualOutputLength(), usualOutputLength())
                .prefixes(numPrefixes, repeatedPrefixLength)
                .promptsPerPrefix(numRequests / numPrefixes);
    }

    private int usualOutputLength() {
        return outputLength == 0 ? 128 : outputLength;
    }
}
