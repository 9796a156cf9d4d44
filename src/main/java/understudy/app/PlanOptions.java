package understudy.app;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.settings.Hocon;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Options that are short for keys of a plan file. */
final class PlanOptions {
    private static final Section NOTHING = Section.of(Map.of());

    @Option(names = "--model", paramLabel = "NAMES", description = "Models, one of which is enough: candidates.models.")
    private @Nullable String models;

    @Option(names = "--gpus", paramLabel = "NAMES", description = "Kinds of GPUs, as 'understudy gpus' has them.")
    private @Nullable String gpus;

    @Option(
            names = "--tp",
            paramLabel = "SIZES",
            description = "GPUs that share each layer: candidates.tensor-parallel-sizes.")
    private @Nullable String tensorParallelSizes;

    @Option(names = "--replicas", paramLabel = "RANGE", description = "Numbers of replicas, such as 1..16 or 1,2,4.")
    private @Nullable String replicas;

    @Option(
            names = "--price",
            paramLabel = "GPU=PRICE",
            split = ",",
            description = "Price of a GPU for an hour. Repeatable.")
    private Map<String, String> prices = new LinkedHashMap<>();

    @Option(names = "--rate", paramLabel = "N", description = "Requests per second.")
    private @Nullable String rate;

    @Option(names = "--input", paramLabel = "TOKENS", description = "Tokens of each prompt.")
    private @Nullable String input;

    @Option(names = "--output", paramLabel = "TOKENS", description = "Tokens of each answer.")
    private @Nullable String output;

    @Option(names = "--ttft-p99", paramLabel = "TIME", description = "Limit of the p99 TTFT, such as 500ms.")
    private @Nullable String ttft;

    @Option(names = "--tpot-p99", paramLabel = "TIME", description = "Limit of the p99 TPOT.")
    private @Nullable String tpot;

    @Option(names = "--e2el-p99", paramLabel = "TIME", description = "Limit of the p99 of whole answers.")
    private @Nullable String e2el;

    @Option(
            names = "--slo",
            paramLabel = "KEY=VALUE",
            description = "Another limit: ttft.p90=200ms, tpot.mean=20ms, goodput.attainment=0.95. Repeatable.")
    private Map<String, String> slo = new LinkedHashMap<>();

    @Option(names = "--requests", paramLabel = "N", description = "Requests of the whole load: search.requests.")
    private @Nullable String requests;

    @Option(names = "--seeds", paramLabel = "N", description = "Seeds of each candidate, from 1 on: search.seeds.")
    private @Nullable String seeds;

    /** Returns a plan file, with these options over it. */
    Section over(@Nullable String file) {
        var flags = NOTHING;
        flags = with(flags, "candidates.models", list(models), "--model");
        flags = with(flags, "candidates.gpus", list(gpus), "--gpus");
        flags = with(flags, "candidates.tensor-parallel-sizes", list(tensorParallelSizes), "--tp");
        flags = with(flags, "candidates.replicas", list(replicas), "--replicas");
        flags = with(flags, "workload.arrivals.request-rate", rate, "--rate");
        flags = withLength(flags, "prompt", input, "--input");
        flags = withLength(flags, "output", output, "--output");
        flags = with(flags, "slo.ttft.p99", ttft, "--ttft-p99");
        flags = with(flags, "slo.tpot.p99", tpot, "--tpot-p99");
        flags = with(flags, "slo.e2el.p99", e2el, "--e2el-p99");
        flags = with(flags, "search.requests", requests, "--requests");
        flags = with(flags, "search.seeds", seeds, "--seeds");
        for (var price : prices.entrySet()) {
            flags = with(flags, "prices." + price.getKey(), price.getValue(), "--price");
        }
        for (var limit : slo.entrySet()) {
            flags = with(flags, "slo." + limit.getKey(), limit.getValue(), "--slo");
        }
        return file == null ? flags : flags.withFallback(read(file));
    }

    private static Section with(Section flags, String key, @Nullable String value, String option) {
        return value == null ? flags : flags.with("plan." + key, value, option);
    }

    private static Section withLength(Section flags, String of, @Nullable String tokens, String option) {
        String key = "workload.lengths." + of;
        return tokens == null
                ? flags
                : with(with(flags, key + ".kind", "fixed", option), key + ".mean", tokens, option);
    }

    /** Returns names with commas between them as the list that a file has; each in quotes, for what is in a path. */
    private static @Nullable String list(@Nullable String names) {
        return names == null ? null : "[\"" + String.join("\", \"", names.split(",")) + "\"]";
    }

    private static Section read(String file) {
        return Hocon.checked(file, () -> {
            if (Files.isRegularFile(Path.of(file))) {
                return Hocon.file(Path.of(file));
            }
            if (file.endsWith(".conf") && PlanOptions.class.getClassLoader().getResource(file) != null) {
                return Hocon.resource(file);
            }
            throw new ScenarioException(file + ": no such file");
        });
    }
}
