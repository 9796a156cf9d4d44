package understudy.sweep;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import understudy.cluster.ClusterSpec;
import understudy.host.Emulation;
import understudy.report.Invariants;
import understudy.report.ReplicaStats;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.report.RunResult;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.Workload;

/** Runs points in the caller's thread, as fast as possible. */
final class PointRunner {
    private static final List<String> OF_ONE_RUN = List.of("per_replica", "timeline", "step_digest");

    private final boolean stopsHopeless;
    private final Set<Emulation> running = ConcurrentHashMap.newKeySet();
    private volatile boolean isStopped;

    /** @param stopsHopeless whether a run ends as soon as it cannot keep its service level any more */
    PointRunner(boolean stopsHopeless) {
        this.stopsHopeless = stopsHopeless;
    }

    /**
     * Reads and checks the scenario of a point.
     *
     * @throws ScenarioException if it cannot be run; the message begins with the point
     */
    static Scenario scenario(String name, Supplier<Section> settings) {
        try {
            return Scenario.read(settings.get());
        } catch (ScenarioException e) {
            throw new ScenarioException(name + ": " + e.getMessage());
        }
    }

    /** Interrupts the runs of all threads, and refuses further ones. */
    void stop() {
        isStopped = true;
        running.forEach(Emulation::cancel);
    }

    /**
     * Runs a point to its end.
     *
     * @param onScenario takes the scenario before it runs
     * @throws CancellationException if the runner is stopped before
     */
    PointResult run(String name, Supplier<Section> settings, Consumer<Scenario> onScenario)
            throws InterruptedException {
        requireNotStopped();
        var scenario = scenario(name, settings);
        onScenario.accept(scenario);
        try (var workload = scenario.workloadSource().open();
                var emulation = new Emulation()) {
            boolean isWatched = stopsHopeless
                    && scenario.serviceLevels().areSet()
                    && workload.total().isPresent();
            start(emulation, scenario, workload, isWatched);
            var run = awaitUnlessStopped(emulation);
            return isWatched && run.isPartial() ? hopeless(name) : result(name, scenario, run);
        }
    }

    private static void start(Emulation emulation, Scenario scenario, Workload workload, boolean isWatched) {
        ClusterSpec spec = scenario.clusterSpec(() -> workload, true);
        if (isWatched) {
            long numRequests = workload.total().orElseThrow();
            var watch = new SloWatch(scenario.serviceLevels(), numRequests, emulation::stop);
            emulation.start(spec, Double.POSITIVE_INFINITY, watch::on);
        } else {
            emulation.start(spec, Double.POSITIVE_INFINITY);
        }
    }

    /** The emulation is among the running ones before the runner is asked, so that a stop never misses it. */
    private RunRecord awaitUnlessStopped(Emulation emulation) throws InterruptedException {
        running.add(emulation);
        try {
            requireNotStopped();
            return await(emulation);
        } finally {
            running.remove(emulation);
        }
    }

    private void requireNotStopped() {
        if (isStopped) {
            throw new CancellationException();
        }
    }

    private static RunRecord await(Emulation emulation) throws InterruptedException {
        try {
            return emulation.await(TimeUnit.DAYS.toMillis(365)).run();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
        } catch (TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    private static PointResult hopeless(String name) {
        return new PointResult(name, Optional.of(false), true, JsonNodeFactory.instance.objectNode());
    }

    private static PointResult result(String name, Scenario scenario, RunRecord run) {
        var broken = Invariants.check(run);
        if (!broken.isEmpty()) {
            throw new IllegalStateException(name + ": invariant broken: " + broken.get(0));
        }
        var report = RunReport.of(run, scenario.serviceLevels(), 0);
        var figures = figures(report, run);
        addOfAll(figures, report, numGpus(scenario));
        var goodput = report.goodput();
        Optional<Boolean> meetsSlo = goodput.isMeasured()
                ? Optional.of(goodput.classes().stream().allMatch(each -> each.isMet()))
                : Optional.empty();
        return new PointResult(name, meetsSlo, false, figures);
    }

    private static ObjectNode figures(RunReport report, RunRecord run) {
        return RunResult.of(report, run.requests()).tree().without(OF_ONE_RUN);
    }

    private static int numGpus(Scenario scenario) {
        return scenario.groups().stream()
                .mapToInt(group -> group.numReplicas() * group.deployment().numGpus())
                .sum();
    }

    /**
     * Adds figures of all replicas together. A user reads as fast as tokens come after the first; a GPU's share is that of
     * all there are.
     */
    private static void addOfAll(ObjectNode figures, RunReport report, int numGpus) {
        double gpus = report.fleet()
                .map(fleet -> fleet.gpuHours() * 3600 / Math.max(report.durationSeconds(), 1e-9))
                .orElse((double) numGpus);
        figures.put("mean_gpus", gpus);
        figures.put("output_throughput_per_gpu", gpus == 0 ? 0 : report.outputThroughput() / gpus);
        double tpotNanos = report.tpot().meanNanos();
        figures.put("output_throughput_per_user", tpotNanos == 0 ? 0 : 1e9 / tpotNanos);
        figures.put(
                "peak_kv_cache_usage",
                report.replicas().stream()
                        .mapToDouble(ReplicaStats::peakKvUsage)
                        .max()
                        .orElse(0));
    }
}
