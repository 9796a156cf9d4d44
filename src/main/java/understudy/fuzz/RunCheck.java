package understudy.fuzz;

import java.util.List;
import java.util.stream.IntStream;
import understudy.cluster.ClusterSpec;
import understudy.scenario.Scenario;
import understudy.settings.Section;

/**
 * Check of whole runs in virtual time: they end, nothing is thrown, all laws of {@link understudy.report.Invariants} hold,
 * and the report is the same whether the scenario runs alone or beside another one in a second thread.
 */
public final class RunCheck implements Check {

    @Override
    public void check(Section scenario) throws InterruptedException {
        var spec = spec(scenario);
        String alone;
        try (var run = new FuzzRun(spec)) {
            alone = run.report();
        }
        // A specification is a value, so it may be used again; and the same settings make an equal one.
        try (var again = new FuzzRun(spec);
                var beside = new FuzzRun(spec(scenario))) {
            requireSame(alone, again.report());
            requireSame(alone, beside.report());
        }
    }

    private static ClusterSpec spec(Section settings) {
        var scenario = Scenario.read(settings);
        return scenario.clusterSpec(scenario.workloadSource(), true);
    }

    private static void requireSame(String first, String second) {
        BrokenLawException.require(first.equals(second), "determinism", () -> firstDifference(first, second));
    }

    private static String firstDifference(String first, String second) {
        var lines = List.of(first.split("\n"));
        var others = List.of(second.split("\n"));
        int common = Math.min(lines.size(), others.size());
        return IntStream.range(0, common)
                .filter(i -> !lines.get(i).equals(others.get(i)))
                .mapToObj(i ->
                        "\"" + lines.get(i).trim() + "\" and \"" + others.get(i).trim() + "\"")
                .findFirst()
                .orElse(lines.size() + " and " + others.size() + " lines in the reports");
    }
}
