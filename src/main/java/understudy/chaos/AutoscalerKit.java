package understudy.chaos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import understudy.chaos.autoscaler.AutoscalerUnderTest;
import understudy.chaos.autoscaler.evidence.FaultPhase;
import understudy.chaos.autoscaler.evidence.ReplicaCounts;
import understudy.chaos.autoscaler.evidence.ScalingEvidence;
import understudy.chaos.autoscaler.fleet.Deployment;
import understudy.chaos.autoscaler.law.ScalingLaws;
import understudy.chaos.autoscaler.plane.ControlPlane;
import understudy.chaos.autoscaler.scenario.ScalingScenario;
import understudy.chaos.autoscaler.scenario.TimedFault;
import understudy.chaos.law.ScenarioResult;
import understudy.runtime.Stopwatch;

/**
 * Judges an autoscaler: for each scenario it starts an emulated cluster with an API of its own, and then the autoscaler.
 *
 * <pre>{@code
 * try (var kit = new AutoscalerKit(autoscaler, 1)) {
 *     var result = kit.run(ScalingScenarioReader.builtIn().get(0));
 *     assertTrue(result.isPassed());
 * }
 * }</pre>
 *
 * <p>One thread at a time may use it; {@link #stop} may be called by any.
 */
public final class AutoscalerKit extends ConformanceKit<ScalingScenario> {
    private static final long TICK_MILLIS = 20;

    /** Load without an autoscaler, so that the first metrics are those of a cluster at work. */
    private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final AutoscalerUnderTest autoscaler;
    private final long seed;

    /**
     * Creates a kit; nothing starts before the first scenario.
     *
     * @param autoscaler the autoscaler to judge
     * @param seed of the load of every scenario
     */
    public AutoscalerKit(AutoscalerUnderTest autoscaler, long seed) {
        this.seed = seed;
        this.autoscaler = autoscaler;
    }

    @Override
    ScenarioResult runOnce(ScalingScenario scenario) throws IOException {
        try (var deployment = new Deployment(scenario.replicas(), scenario.startupMillis(), scenario.load(), seed);
                var plane = new ControlPlane(scenario.replicas(), deployment::metrics)) {
            keep(deployment, plane, SETTLE_NANOS);
            try (var running = autoscaler.start(setup(scenario, plane))) {
                awaitFirstCall(deployment, plane, running);
                var evidence = play(scenario, deployment, plane, running);
                return ScenarioResult.judge(scenario.description(), evidence, ScalingLaws.named(scenario.laws()));
            }
        }
    }

    private AutoscalerUnderTest.Setup setup(ScalingScenario scenario, ControlPlane plane) {
        return new AutoscalerUnderTest.Setup(
                plane.scale(),
                plane.targets(),
                plane.metrics(),
                scenario.bounds().minReplicas(),
                scenario.bounds().maxReplicas(),
                Deployment.REQUESTS_PER_REPLICA,
                scenario.periodMillis(),
                scenario.windowMillis(),
                directory());
    }

    /** Lets the load of the scenario's start go on. */
    private void keep(Deployment deployment, ControlPlane plane, long nanos) {
        var waiting = Stopwatch.start();
        while (waiting.nanos() < nanos && !isStopped()) {
            look(deployment, plane, 0);
            pause(TICK_MILLIS);
        }
    }

    private void awaitFirstCall(Deployment deployment, ControlPlane plane, AutoscalerUnderTest.Running running)
            throws IOException {
        var waiting = Stopwatch.start();
        while (!plane.hasBeenCalled() && !isStopped()) {
            look(deployment, plane, 0);
            pause(TICK_MILLIS);
            if (!running.isAlive()) {
                throw new IOException("the autoscaler " + running.end());
            }
            if (waiting.nanos() > START_NANOS) {
                throw new IOException(
                        "the autoscaler asks for nothing within " + TimeUnit.NANOSECONDS.toSeconds(START_NANOS) + " s");
            }
        }
    }

    private ScalingEvidence play(
            ScalingScenario scenario, Deployment deployment, ControlPlane plane, AutoscalerUnderTest.Running running) {
        var stopwatch = Stopwatch.start();
        plane.begin();
        var counts = new ArrayList<ReplicaCounts>();
        var phases = new ArrayList<FaultPhase>();
        var begun = new HashSet<TimedFault>();
        var ended = new HashSet<TimedFault>();
        try (var lateness = new LatenessMeter(stopwatch)) {
            while (stopwatch.nanos() < scenario.durationNanos() && !isStopped()) {
                follow(scenario.faults(), plane, stopwatch, begun, ended, phases);
                long nowNanos = stopwatch.nanos();
                look(deployment, plane, nowNanos);
                counts.add(deployment.counts(nowNanos, plane.wanted()));
                pause(TICK_MILLIS);
            }
            return new ScalingEvidence(
                    scenario.name(),
                    scenario.bounds(),
                    stopwatch.nanos(),
                    scenario.replicas(),
                    counts,
                    plane.calls(),
                    phases,
                    running.isAlive(),
                    lateness.lateness());
        }
    }

    private static void look(Deployment deployment, ControlPlane plane, long nowNanos) {
        deployment.look(nowNanos, plane.wanted());
        plane.setPods(deployment.ready(), deployment.starting());
    }

    private static void follow(
            List<TimedFault> faults,
            ControlPlane plane,
            Stopwatch stopwatch,
            Set<TimedFault> begun,
            Set<TimedFault> ended,
            List<FaultPhase> phases) {
        for (var fault : faults) {
            long nowNanos = stopwatch.nanos();
            long endNanos = fault.atNanos() + fault.durationNanos();
            if (nowNanos >= fault.atNanos() && begun.add(fault)) {
                plane.begin(fault.fault());
                var kind = fault.fault().kind();
                phases.add(new FaultPhase(kind.written(), kind.isBlinding(), nowNanos, endNanos));
            }
            if (nowNanos >= endNanos && ended.add(fault)) {
                plane.end(fault.fault());
            }
        }
    }
}
