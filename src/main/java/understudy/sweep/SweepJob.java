package understudy.sweep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioException;
import understudy.scenario.ScenarioFile;

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
        var runner = runner();
        for (var point : plan.combinations()) {
            if (plan.search().isEmpty()) {
                runner.scenario(point);
            } else {
                var search = plan.search().get();
                for (var end : List.of(search.low(), search.high())) {
                    requireSlo(runner.scenario(point.with(search.key(), Variation.plain(end))));
                }
            }
        }
    }

    private static void requireSlo(Scenario scenario) {
        if (!scenario.serviceLevels().areSet()) {
            throw new ScenarioException("--max and --min need a service level; set slo.ttft, slo.tpot, slo.e2el or"
                    + " slo.classes, such as --set slo.ttft=2s --set slo.attainment=0.99");
        }
    }

    /** Returns threads that run the points. */
    public PointExecutor local(int numThreads) {
        return new LocalExecutor(runner(), numThreads);
    }

    private PointRunner runner() {
        return new PointRunner(files, settings, plan.search().isPresent());
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
