package understudy.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import understudy.report.LatencyName;
import understudy.settings.Defaults;
import understudy.settings.Hocon;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * The section {@code plan} of a file, or of flags that stand for it.
 *
 * @param scenario file that the candidates begin with; empty for the defaults
 * @param settings of all candidates over it: what arrives, and what is good
 * @param limits of statistics
 * @param prices of a GPU for an hour, by its name as the file has it
 * @param axes what varies between candidates, besides their number of replicas
 * @param counts numbers of replicas, growing
 * @param maxGpus most GPUs of a candidate
 * @param search how long loads are, and with how many seeds they are run
 */
public record PlanSettings(
        String scenario,
        Map<String, String> settings,
        List<Limit> limits,
        Map<String, Double> prices,
        List<Axis> axes,
        List<Integer> counts,
        int maxGpus,
        SearchSettings search) {
    private static final String DEFAULTS = "plan-defaults.conf";
    private static final String PLAN = "plan";
    private static final String WORKLOAD = "workload";
    private static final String PRICES = "prices";
    private static final String VARY = "vary";
    private static final Set<String> OPEN = Set.of("plan.workload", "plan.prices", "plan.candidates.vary");
    private static final List<LatencyName> LATENCIES = List.of(LatencyName.TTFT, LatencyName.TPOT, LatencyName.E2EL);
    private static final List<String> STATISTICS = List.of("mean", "median", "p90", "p95", "p99", "max");
    private static final Pattern RANGE = Pattern.compile("([0-9]{1,6})\\.\\.([0-9]{1,6})");
    private static final int MAX_REPLICAS = 10_000;
    private static final int MAX_GPUS = 1_000_000;
    private static final int MAX_SEEDS = 100;
    private static final double NANOS_PER_MILLI = 1e6;

    /** Lists that a plan has names of its own for. */
    private static final List<Axis> NAMED = List.of(
            axis("models", "latency.llm", ""),
            axis("dtypes", "latency.dtype", ""),
            axis("gpus", Axis.GPU, ""),
            axis("tensor-parallel-sizes", "latency.tensor-parallel-size", "tp="),
            axis("pipeline-parallel-sizes", "latency.pipeline-parallel-size", "pp="),
            axis("data-parallel-sizes", Axis.RANKS, "dp="),
            axis("expert-parallel", "latency.enable-expert-parallel", "ep="),
            axis("engines", "engine.kind", ""),
            axis("max-num-seqs", "engine.max-num-seqs", "seqs="),
            axis("max-num-batched-tokens", "engine.max-num-batched-tokens", "tokens="),
            axis("kv-cache-dtypes", "kv-cache.kv-cache-dtype", "kv="),
            axis("routers", "router.policy", ""),
            axis("splits", Axis.SPLIT, ""));

    private static Axis axis(String name, String key, String label) {
        return new Axis(name, key, label, List.of());
    }

    /**
     * Setting that varies.
     *
     * @param name of its list in the section {@code candidates}
     * @param key of the scenario
     * @param label before a value in the names of candidates
     */
    public record Axis(String name, String key, String label, List<String> values) {
        static final String GPU = "latency.gpu";
        static final String RANKS = "latency.data-parallel-size";
        static final String SPLIT = "cluster.groups";
    }

    /**
     * How candidates are run.
     *
     * @param numRequests of the whole load; 0 for those of the workload
     * @param fewestRequests of a short load
     * @param eta how many times as long each load is as the one before
     * @param numSeeds runs of each candidate
     */
    public record SearchSettings(long numRequests, long fewestRequests, int eta, int numSeeds) {
        /** Returns the seeds. */
        public List<Long> seeds() {
            return LongStream.rangeClosed(1, numSeeds).boxed().toList();
        }
    }

    /**
     * Reads a file.
     *
     * @param file whose section {@code plan} it is, and which has no other one
     * @throws ScenarioException if it cannot be used
     */
    public static PlanSettings read(Section file) {
        var defaults = Hocon.resource(DEFAULTS);
        new KnownKeys(defaults, OPEN::contains).check(file);
        var plan = file.withFallback(defaults).resolve().section(PLAN);
        var slo = plan.section("slo");
        var candidates = plan.section("candidates");
        return new PlanSettings(
                plan.text("scenario"),
                settings(plan, slo.section("goodput")),
                limits(slo),
                prices(plan.sectionOrEmpty(PRICES)),
                axes(candidates),
                counts(candidates),
                candidates.wholeNumber("max-gpus", 1, MAX_GPUS),
                search(plan.section("search")));
    }

    /** Returns the workload, and the limits of goodput if there are any. */
    private static Map<String, String> settings(Section plan, Section goodput) {
        var settings = new LinkedHashMap<String, String>();
        var workload = plan.sectionOrEmpty(WORKLOAD);
        new KnownKeys(Defaults.SCENARIO.section(WORKLOAD).at(workload.path())).check(workload);
        workload.values().forEach((key, value) -> settings.put(WORKLOAD + "." + key, value));
        var own = new LinkedHashMap<String, String>();
        for (var latency : LATENCIES) {
            if (goodput.nanosOrOff(latency.key()).isPresent()) {
                own.put("slo." + latency.key(), goodput.text(latency.key()));
            }
        }
        if (!own.isEmpty()) {
            own.put("slo.attainment", String.valueOf(goodput.number("attainment", 0, 1)));
        }
        settings.putAll(own);
        return settings;
    }

    private static List<Limit> limits(Section slo) {
        var limits = new ArrayList<Limit>();
        for (var latency : LATENCIES) {
            var section = slo.section(latency.key());
            for (String statistic : STATISTICS) {
                var nanos = section.nanosOrOff(statistic);
                if (nanos.isPresent() && nanos.getAsDouble() == 0) {
                    throw section.unusable(statistic, "must be above 0, or off");
                }
                nanos.ifPresent(limit -> limits.add(new Limit(latency, statistic, limit / NANOS_PER_MILLI)));
            }
        }
        return limits;
    }

    private static Map<String, Double> prices(Section section) {
        var prices = new TreeMap<String, Double>();
        for (String gpu : section.keys()) {
            prices.put(gpu, section.only(gpu).positive(gpu));
        }
        return prices;
    }

    private static List<Axis> axes(Section candidates) {
        var axes = new ArrayList<Axis>();
        NAMED.forEach(axis -> addValues(candidates, axis, axes));
        var vary = candidates.sectionOrEmpty(VARY);
        for (String key : vary.values().keySet()) {
            var own = NAMED.stream().filter(axis -> axis.key().equals(key)).findFirst();
            if (own.isPresent()) {
                throw vary.unusable(
                        key, "but that is what plan.candidates." + own.get().name() + " is for");
            }
            addValues(vary, axis(key, key, key.substring(key.lastIndexOf('.') + 1) + "="), axes);
        }
        return axes;
    }

    private static void addValues(Section section, Axis axis, List<Axis> axes) {
        var values = section.texts(axis.name());
        if (values.stream().distinct().count() < values.size()) {
            throw section.unusable(axis.name(), "but a value is there twice");
        }
        if (axis.key().equals(Axis.SPLIT)) {
            values.forEach(ServingUnit.Split::parse);
        }
        if (!values.isEmpty()) {
            axes.add(new Axis(axis.name(), axis.key(), axis.label(), List.copyOf(values)));
        }
    }

    private static List<Integer> counts(Section candidates) {
        var counts = new ArrayList<Integer>();
        for (String text : candidates.texts("replicas")) {
            var range = RANGE.matcher(text);
            String from = range.matches() ? range.group(1) : text;
            String to = range.matches() ? range.group(2) : text;
            if (!from.matches("[0-9]{1,6}") || count(from) < 1 || count(to) > MAX_REPLICAS || count(from) > count(to)) {
                throw candidates.unusable(
                        "replicas", "must be numbers from 1 to " + MAX_REPLICAS + ", or ranges such as 1..16");
            }
            for (int count = count(from); count <= count(to); count++) {
                counts.add(count);
            }
        }
        if (counts.isEmpty()) {
            throw candidates.unusable("replicas", "must have a number, or a range such as 1..16");
        }
        return counts.stream().distinct().sorted().toList();
    }

    private static int count(String digits) {
        return Integer.parseInt(digits);
    }

    private static SearchSettings search(Section search) {
        boolean isAuto = search.text("requests").equals("auto");
        return new SearchSettings(
                isAuto ? 0 : search.wholeNumber("requests", 1, Long.MAX_VALUE),
                search.wholeNumber("min-requests", 1, Long.MAX_VALUE),
                search.wholeNumber("eta", 2, MAX_SEEDS),
                search.wholeNumber("seeds", 1, MAX_SEEDS));
    }
}
