package understudy.evidence;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import understudy.host.Emulation;
import understudy.report.ReplicaStats;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;

/** Runs of a table of the manual: one scenario after the other, progress on stderr. */
final class RoutingRun {
    private static final long LIMIT_MILLIS = TimeUnit.HOURS.toMillis(1);

    private RoutingRun() {}

    /**
     * Runs a scenario to its end.
     *
     * @param name what stderr says has run
     */
    static RunRecord run(String name, String file, Map<String, String> settings) throws Exception {
        var scenario = Scenario.read(new ScenarioFile(Map.of()).load(file, settings));
        try (var workload = scenario.workloadSource().open();
                var emulation = new Emulation()) {
            emulation.start(scenario.clusterSpec(() -> workload, true), scenario.speed());
            var result = emulation.await(LIMIT_MILLIS);
            System.err.printf(
                    Locale.ROOT, "%s %s: %.1f s%n", file, name, result.host().wallSeconds());
            return result.run();
        }
    }

    /** Returns the largest share of a replica's time in which it was busy, in relation to the mean of all. */
    static double imbalance(RunReport report) {
        var busyNanos =
                report.replicas().stream().mapToLong(ReplicaStats::busyNanos).summaryStatistics();
        return busyNanos.getMax() / busyNanos.getAverage();
    }
}
