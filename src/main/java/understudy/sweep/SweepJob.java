package understudy.sweep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/**
 * Plan of a sweep and all that its runs have in common.
 *
 * @param settings of all points; a point's own go over them
 * @param version of the program, since results of another one may differ
 */
public record SweepJob(SweepPlan plan, ScenarioFile files, Map<String, String> settings, String version) {

    /**
     * Reads the scenarios of all combinations, so that a long sweep does not end at a mistake.
     *
     * @throws ScenarioException if one cannot be run
     */
    public void check() {
        for (var point : plan.combinations()) {
            if (plan.search().isEmpty()) {
                scenario(point);
            } else {
                var search = plan.search().get();
                for (var end : List.of(search.low(), search.high())) {
                    requireSlo(scenario(point.with(search.key(), Variation.plain(end))));
                }
            }
        }
    }

    private Scenario scenario(SweepPoint point) {
        return PointRunner.scenario(point.name(), () -> merged(point));
    }

    /** Returns all settings of a point. */
    public Section merged(SweepPoint point) {
        var merged = new LinkedHashMap<>(settings);
        merged.putAll(point.settings());
        return load(files, point.scenario(), merged);
    }

    /** Returns the settings of a scenario with some over them; one without a name has the defaults. */
    static Section load(ScenarioFile files, String scenario, Map<String, String> settings) {
        return files.load(scenario.isEmpty() ? null : scenario, settings);
    }

    private static void requireSlo(Scenario scenario) {
        if (!scenario.serviceLevels().areSet()) {
            throw new ScenarioException("--max and --min need a service level; set slo.ttft, slo.tpot, slo.e2el or"
                    + " slo.classes, such as --set slo.ttft=2s --set slo.attainment=0.99");
        }
    }

    /** Returns threads that run the points. */
    public PointExecutor local(int numThreads) {
        return new LocalExecutor(this, new PointThreads(numThreads, stopsHopeless()));
    }

    /** Returns whether a run ends as soon as it cannot keep its service level any more. */
    public boolean stopsHopeless() {
        return plan.search().isPresent();
    }

    /** Returns the files that the runs read, with a digest of each: what runs elsewhere needs the same ones. */
    public SortedMap<String, String> inputs() throws IOException {
        var names = new ArrayList<String>();
        for (String scenario : plan.scenarios()) {
            names.addAll(load(files, scenario, settings).texts());
        }
        plan.variations().forEach(variation -> variation.values().forEach(names::addAll));
        return InputFiles.digests(names);
    }

    /**
     * Returns the sweep.
     *
     * @param journal file that keeps the results, or null
     */
    public Sweep sweep(PointExecutor executor, @Nullable Path journal) throws IOException {
        return new Sweep(plan, executor, journal == null ? null : open(journal));
    }

    private SweepJournal open(Path journal) throws IOException {
        Files.createDirectories(journal.toAbsolutePath().getParent());
        return new SweepJournal(journal, SweepIdentity.of(version, files, plan.scenarios(), settings));
    }
}
