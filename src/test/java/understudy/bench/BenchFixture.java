package understudy.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import understudy.bench.result.BenchRequest;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.Section;
import understudy.workload.RandomStreams;

/** Scenarios and benchmarks for tests. */
public final class BenchFixture {
    private BenchFixture() {}

    /** Returns a scenario of short requests, with some settings of its section {@code workload}. */
    public static Scenario scenario(Map<String, ?> workload) {
        var usual = "workload.lengths { prompt { kind = fixed, mean = 20 }, output { kind = fixed, mean = 6 } }";
        var own = new HashMap<String, Object>();
        workload.forEach((key, value) -> own.put("workload." + key, value));
        return Scenario.read(new ScenarioFile(Map.of()).load(Section.of(own).withFallback(Section.of(usual))));
    }

    static BenchTarget target(String url, String endpoint, boolean sendsIds) {
        var base = URI.create(url);
        return new BenchTarget(base, endpoint, "m", Map.of(), sendsIds, true, JsonNodeFactory.instance.objectNode());
    }

    static List<BenchRequest> run(BenchTarget target, Bench.Options options, Scenario scenario) {
        try (var workload = scenario.workloadSource().open()) {
            return new Bench(target, options, new RandomStreams(1)).run(workload, (numEnded, seconds) -> {});
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
