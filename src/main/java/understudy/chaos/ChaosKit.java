package understudy.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ConnectionSample;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.EvidenceBuilder;
import understudy.chaos.fleet.Fleet;
import understudy.chaos.fleet.FreePorts;
import understudy.chaos.gateway.GatewayUnderTest;
import understudy.chaos.law.Laws;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.load.Load;
import understudy.chaos.load.WarmUp;
import understudy.chaos.scenario.ChaosScenario;
import understudy.chaos.tls.ReplicaCertificates;
import understudy.runtime.Stopwatch;

/**
 * Judges a gateway: runs one scenario after the other in front of a fleet whose ports stay the same.
 *
 * <pre>{@code
 * try (var kit = new ChaosKit(gateway, List.of(), 1)) {
 *     var result = kit.run(ScenarioReader.builtIn().get(0));
 *     assertTrue(result.isPassed());
 * }
 * }</pre>
 *
 * <p>One thread at a time may use it; {@link #stop} may be called by any.
 */
public final class ChaosKit extends ConformanceKit<ChaosScenario> {
    private static final long TICK_MILLIS = 10;
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Pauses without load after which connections are counted: probes may be under way at any of them. */
    private static final int NUM_RESTS = 6;

    private static final long REST_MILLIS = 60;

    /** Longest time for a gateway to find all replicas again, and fewest calls that it must answer. */
    private static final double SETTLE_SECONDS = 3;

    private static final int SETTLE_CALLS = 6;

    /** The same for a gateway that was just started, and a kit that is still cold: classes are loaded, code compiled. */
    private static final double FIRST_SETTLE_SECONDS = 15;

    private static final int FIRST_SETTLE_CALLS = 60;

    /** Time beyond the clients' patience after which a scenario ends whatever is under way. */
    private static final long SLACK_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final GatewayUnderTest gateway;
    private final List<Integer> wantedPorts;
    private final long seed;
    private final boolean isTls;
    private @Nullable ReplicaCertificates certificates;
    private @Nullable Fleet fleet;
    private GatewayUnderTest.@Nullable Running running;
    private boolean hasSettled;

    /**
     * Creates a kit; nothing starts before the first scenario.
     *
     * @param gateway the gateway to judge
     * @param ports ports of the replicas, for a gateway that runs already; empty for any that are free
     * @param seed of the load of every scenario
     */
    public ChaosKit(GatewayUnderTest gateway, List<Integer> ports, long seed) {
        this(gateway, ports, seed, false);
    }

    /**
     * Creates a kit; see the other constructor.
     *
     * @param isTls whether replicas speak TLS, with certificates of an authority that is made at the first scenario
     */
    public ChaosKit(GatewayUnderTest gateway, List<Integer> ports, long seed, boolean isTls) {
        this.gateway = gateway;
        this.isTls = isTls;
        wantedPorts = List.copyOf(ports);
        this.seed = seed;
    }

    /** @throws IllegalArgumentException if the scenario needs TLS, and replicas do not speak it */
    @Override
    ScenarioResult runOnce(ChaosScenario scenario) throws IOException {
        if (scenario.needsTls() && !isTls) {
            throw new IllegalArgumentException("the scenario " + scenario.name() + " needs replicas that speak TLS");
        }
        var replicas = fleetOf(scenario.numReplicas());
        replicas.renew(scenario.fleet());
        var initial = scenario.injections().stream()
                .filter(injection -> injection.atNanos() == 0)
                .toList();
        for (var injection : initial) {
            replicas.inject(injection);
        }
        var target = runningGateway(replicas);
        settle(target, replicas);
        replicas.begin(initial);
        var evidence = play(scenario, target, replicas);
        replicas.dropBusyConnections();
        return ScenarioResult.judge(
                scenario.description(),
                evidence,
                scenario.laws().stream().map(Laws::named).toList());
    }

    private Fleet fleetOf(int numReplicas) throws IOException {
        var present = fleet;
        if (present != null && present.names().size() == numReplicas) {
            return present;
        }
        if (!wantedPorts.isEmpty() && wantedPorts.size() != numReplicas) {
            throw new IOException(
                    "the scenario has " + numReplicas + " replicas, but there are ports for " + wantedPorts.size());
        }
        closeGateway();
        closeFleet();
        var opened = new Fleet(
                wantedPorts.isEmpty() ? Collections.nCopies(numReplicas, 0) : wantedPorts, certificatesIfTls());
        fleet = opened;
        return opened;
    }

    private @Nullable ReplicaCertificates certificatesIfTls() throws IOException {
        if (isTls && certificates == null) {
            var made = new ReplicaCertificates();
            Files.writeString(authority(), made.authority());
            certificates = made;
        }
        return certificates;
    }

    private Path authority() {
        return directory().resolve("ca.pem");
    }

    private GatewayUnderTest.Running runningGateway(Fleet replicas) throws IOException {
        var present = running;
        if (present != null && present.isAlive() && WarmUp.isAlive(present.uri())) {
            return present;
        }
        closeGateway();
        var interruption = interruptionByStop();
        try {
            var started = gateway.start(new GatewayUnderTest.Setup(
                    FreePorts.next(), replicas.backends(), directory(), isTls ? authority() : null));
            running = started;
            return started;
        } finally {
            boolean isInterrupted = !interruption.cancel(false);
            if (isInterrupted) {
                // What follows ends the fleet, and may wait for that.
                Thread.interrupted();
            }
        }
    }

    /** Calls until each replica that can has answered: a gateway may have taken it for dead in the last scenario. */
    private void settle(GatewayUnderTest.Running target, Fleet replicas) throws IOException {
        var waiting = Stopwatch.start();
        replicas.begin(List.of());
        double maxSeconds = hasSettled ? SETTLE_SECONDS : FIRST_SETTLE_SECONDS;
        int minCalls = hasSettled ? SETTLE_CALLS : FIRST_SETTLE_CALLS;
        hasSettled = true;
        int numAnswered = 0;
        int batch = 2 * replicas.names().size();
        for (int i = 0; waiting.seconds() < maxSeconds && !isStopped(); i += batch) {
            numAnswered += WarmUp.numAnswered(target.uri(), i, batch);
            var answering = replicas.attempts().stream()
                    .filter(attempt -> attempt.ending() == Attempt.Ending.COMPLETED)
                    .map(Attempt::replica)
                    .collect(Collectors.toSet());
            if (numAnswered >= minCalls && answering.containsAll(replicas.healthy())) {
                return;
            }
            pause(TICK_MILLIS);
        }
    }

    private Evidence play(ChaosScenario scenario, GatewayUnderTest.Running target, Fleet replicas) throws IOException {
        var stopwatch = replicas.stopwatch();
        var samples = new ArrayList<ConnectionSample>();
        var due = scenario.injections().stream()
                .filter(injection -> injection.atNanos() > 0)
                .collect(Collectors.toCollection(ArrayDeque::new));
        long patienceNanos = scenario.bounds().patienceNanos();
        try (var lateness = new LatenessMeter(stopwatch);
                var load = new Load(target.uri(), stopwatch, scenario.load(), patienceNanos, seed)) {
            long lastNanos =
                    Math.max(load.lastNanos(), due.isEmpty() ? 0 : due.getLast().atNanos());
            long limitNanos = lastNanos + 2 * patienceNanos + SLACK_NANOS;
            load.start();
            long nextSampleNanos = 0;
            while (!isStopped() && !(load.hasEnded() && due.isEmpty()) && stopwatch.nanos() < limitNanos) {
                while (!due.isEmpty() && due.getFirst().atNanos() <= stopwatch.nanos()) {
                    replicas.inject(due.removeFirst());
                }
                replicas.look();
                if (stopwatch.nanos() >= nextSampleNanos) {
                    samples.addAll(replicas.sample());
                    nextSampleNanos = stopwatch.nanos() + SAMPLE_NANOS;
                }
                pause(TICK_MILLIS);
            }
            for (int i = 0; i < NUM_RESTS; i++) {
                pause(REST_MILLIS);
                samples.addAll(replicas.sample());
            }
            boolean isAlive = target.isAlive() && WarmUp.isAlive(target.uri());
            long endNanos = stopwatch.nanos();
            return EvidenceBuilder.builder()
                    .scenario(scenario.name())
                    .bounds(scenario.bounds())
                    .durationNanos(endNanos)
                    .replicas(replicas.names())
                    .calls(load.calls())
                    .attempts(replicas.attempts())
                    .phases(replicas.phases(endNanos))
                    .connections(samples)
                    .isGatewayAlive(isAlive)
                    .lateness(lateness.lateness())
                    .build();
        }
    }

    private void closeGateway() {
        var present = running;
        running = null;
        if (present != null) {
            present.close();
        }
    }

    private void closeFleet() {
        var present = fleet;
        fleet = null;
        if (present != null) {
            present.close();
        }
    }

    @Override
    void end() throws IOException {
        closeGateway();
        closeFleet();
        Files.deleteIfExists(authority());
    }
}
