package understudy.adopt;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import understudy.settings.ScenarioException;

/**
 * Makes a workload of metrics: arrivals by what has ended and what is under way, lengths by the histograms, and a beginning
 * that all prompts share for what the prefix cache has found.
 */
public final class LoadAdoption {
    private static final String WORKLOAD = "workload.";

    /** Tokens of a block, which prefixes are shared by. */
    private static final int BLOCK = 16;

    /** Less is chance, such as a prompt that came twice. */
    private static final double FEW_HITS = 0.01;

    /** Least rate that a scenario may begin with. */
    private static final double LEAST_RATE = 1e-3;

    /** A rate changes when so many standard deviations more or fewer requests come. */
    private static final double CHANGE = 3;

    private final LoadCounts counts;
    private final String source;
    private final List<Setting> settings = new ArrayList<>();
    private final List<String> seen = new ArrayList<>();
    private final List<String> unknown = new ArrayList<>();

    private LoadAdoption(LoadCounts counts, String source) {
        this.counts = counts;
        this.source = source;
    }

    /**
     * Returns the names of the series to query, as alternatives of a regular expression.
     */
    public static String seriesPattern() {
        return LoadNames.pattern();
    }

    /**
     * Makes the workload of two pages.
     *
     * @param seconds from one to the other
     * @throws ScenarioException if they are none, in the wrong order, or contradict themselves
     */
    public static AdoptedScenario ofPages(String oneName, String one, String otherName, String other, double seconds) {
        var scrapes = List.of(new Scrape(0, page(oneName, one)), new Scrape(seconds, page(otherName, other)));
        String source = oneName.equals(otherName) ? oneName : oneName + ", " + otherName;
        return new LoadAdoption(new LoadCounts(source, scrapes, false), source).adopt();
    }

    private static MetricsPage page(String name, String text) {
        if (Sources.isHtml(text)) {
            throw new ScenarioException(name + ": a web page (HTML), not a page of metrics");
        }
        if (!isPage(text)) {
            throw new ScenarioException(name + ": not a page of metrics");
        }
        var page = MetricsPage.read(name, text);
        page.engine();
        return page;
    }

    /** Returns whether a text is a page of metrics, and not an answer of Prometheus. */
    public static boolean isPage(String text) {
        return MetricsPage.isOne(text);
    }

    /**
     * Makes the workload of a range of Prometheus.
     *
     * @param text answer of {@code /api/v1/query_range}
     * @param lastSeconds end of the range that counts
     * @throws ScenarioException if it is no such answer, or contradicts itself
     */
    public static AdoptedScenario ofRange(String name, String text, double lastSeconds) {
        var all = PrometheusRange.read(name, text);
        double end = all.get(all.size() - 1).seconds();
        var scrapes = all.stream()
                .filter(scrape -> scrape.seconds() >= end - lastSeconds)
                .toList();
        if (scrapes.size() < 2) {
            throw new ScenarioException(
                    name + ": has less than two times in its last " + Math.round(lastSeconds) + " s");
        }
        return new LoadAdoption(new LoadCounts(name, scrapes, true), name).adopt();
    }

    private AdoptedScenario adopt() {
        var names = counts.names();
        var prompts = counts.lengths(names.promptLengths());
        var outputs = counts.lengths(names.outputLengths());
        counts.check(outputs);
        putArrivals();
        double shared = putShared(prompts);
        putLengths("prompt", shared == 0 ? prompts : prompts.without(shared), names.promptLengths());
        putLengths("output", outputs, names.outputLengths());
        tellWhatIsSeen();
        unknown.add("how arrivals are spread between two scrapes: " + WORKLOAD
                + "arrivals.kind is poisson; gamma with a" + " burstiness below 1 has bursts");
        unknown.add("whether long prompts have long answers: lengths are drawn by themselves");
        return new AdoptedScenario(
                "Load of " + round(counts.seconds()) + " s, adopted from " + source, settings, seen, unknown);
    }

    private void put(String key, String value, String where) {
        settings.add(new Setting(WORKLOAD + key, value, where));
    }

    /** What comes in an interval has ended in it, or is under way at its end and was not at its beginning. */
    private void putArrivals() {
        var names = counts.names();
        double[] arrived = new double[counts.numIntervals()];
        double total = 0;
        for (int i = 0; i < arrived.length; i++) {
            double more = underWay(i + 1) - underWay(i);
            arrived[i] = Math.max(0, counts.growth(names.promptLengths() + "_count", i) + more);
            total += arrived[i];
        }
        long requests = Math.max(1, Math.round(total));
        String where = names.promptLengths() + "_count and requests under way, " + source;
        put("requests", String.valueOf(requests), where);
        var pieces = pieces(arrived);
        put("arrivals.request-rate", rate(Math.max(LEAST_RATE, pieces.get(0).rate())), where);
        if (pieces.size() > 1) {
            put(
                    "arrivals.profile",
                    pieces.stream()
                            .skip(1)
                            .map(piece -> "{ at = " + Math.round(piece.start) + "s, request-rate = "
                                    + rate(piece.rate()) + " }")
                            .collect(Collectors.joining(", ", "[", "]")),
                    "the same, where the rate changes by more than chance");
        }
    }

    private double underWay(int scrape) {
        return counts.gauge(counts.names().running(), scrape)
                + counts.gauge(counts.names().waiting(), scrape);
    }

    /** A time with one rate. */
    private static final class Piece {
        private final double start;
        private double seconds;
        private double arrived;

        Piece(double start) {
            this.start = start;
        }

        double rate() {
            return arrived / seconds;
        }

        void add(double moreSeconds, double moreArrived) {
            seconds += moreSeconds;
            arrived += moreArrived;
        }

        boolean goesOn(double moreSeconds, double moreArrived) {
            double expected = rate() * moreSeconds;
            return Math.abs(moreArrived - expected) <= CHANGE * Math.sqrt(Math.max(1, expected));
        }
    }

    private List<Piece> pieces(double[] arrived) {
        var pieces = new ArrayList<Piece>();
        for (int i = 0; i < arrived.length; i++) {
            double seconds = counts.end(i) - counts.start(i);
            var last = pieces.isEmpty() ? null : pieces.get(pieces.size() - 1);
            if (last == null || !last.goesOn(seconds, arrived[i])) {
                last = new Piece(counts.start(i));
                pieces.add(last);
            }
            last.add(seconds, arrived[i]);
        }
        return pieces;
    }

    private static String rate(double perSecond) {
        return String.format(Locale.ROOT, "%.4f", perSecond);
    }

    /** Returns the tokens that all prompts begin with; metrics tell how much was found, and not what comes again. */
    private double putShared(LengthHistogram prompts) {
        var names = counts.names();
        double asked = counts.growth(names.promptTokens());
        double found = counts.growth(names.cachedTokens());
        if (asked < found) {
            throw new ScenarioException(source + ": " + names.cachedTokens() + " grows by " + Math.round(found)
                    + ", and " + names.promptTokens() + " by " + Math.round(asked)
                    + ": the metrics contradict each other");
        }
        if (!(asked > 0) || found == 0) {
            return 0;
        }
        double hitRate = found / asked;
        long wanted = Math.round(hitRate * prompts.mean());
        long shared = (long) Math.min((double) wanted, prompts.leastLength()) / BLOCK * BLOCK;
        double reached = shared / prompts.mean();
        seen.add("prefix cache: " + percent(hitRate) + " of the prompts' tokens were found (" + names.cachedTokens()
                + ")");
        if (hitRate < FEW_HITS) {
            return 0;
        }
        unknown.add("what prompts share: "
                + (shared == 0
                        ? "nothing, though "
                        : "the first " + shared + " tokens of all, " + percent(reached) + " of their tokens, where ")
                + percent(hitRate) + " were found; set " + WORKLOAD + "prefix-groups or sessions");
        if (shared == 0) {
            return 0;
        }
        put("prefix-groups.count", "1", names.cachedTokens() + ", " + source);
        put("prefix-groups.length", "{ kind = fixed, mean = " + shared + " }", "hit rate by mean prompt, full blocks");
        return shared;
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    private static String round(double number) {
        return String.format(Locale.ROOT, number < 100 ? "%.1f" : "%.0f", number);
    }

    private void putLengths(String part, LengthHistogram lengths, String name) {
        var fit = LengthFit.of(lengths, limit(lengths));
        put("lengths." + part, fit.settings(), name + " " + fit.words());
    }

    /** The last bound below which something is; above all bounds anything may be. */
    private static int limit(LengthHistogram lengths) {
        int last = lengths.counts().length - 1;
        while (last > 0 && lengths.counts()[last] == 0) {
            last--;
        }
        return (int) lengths.bounds()[last];
    }

    private void tellWhatIsSeen() {
        var names = counts.names();
        seen.add("requests at a time: " + round(counts.meanGauge(names.running())) + " ran, "
                + round(counts.meanGauge(names.waiting())) + " waited, on average of the scrapes");
        double first = counts.growth(names.ttft() + "_count");
        if (first > 0) {
            seen.add(String.format(
                    Locale.ROOT,
                    "mean time to the first token: %.1f ms",
                    1e3 * counts.growth(names.ttft() + "_sum") / first));
        }
    }
}
