package understudy.chaos.fleet;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ConnectionSample;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.gateway.GatewayUnderTest.Backend;
import understudy.chaos.proxy.AttemptLog;
import understudy.chaos.proxy.EventInterposer;
import understudy.chaos.proxy.Interposer;
import understudy.chaos.tls.ReplicaCertificates;
import understudy.runtime.Stopwatch;
import understudy.testkit.EmulatedCluster;

/**
 * The replicas that a gateway sees. Their ports stay the same from one scenario to the next; the cluster behind them is
 * a new one each time. One thread uses it.
 */
public final class Fleet implements AutoCloseable {
    private final List<Interposer> ports = new ArrayList<>();
    private final List<EventInterposer> events = new ArrayList<>();
    private Stopwatch stopwatch = Stopwatch.start();
    private AttemptLog log = new AttemptLog(stopwatch);
    private PhaseLog phases;
    private final String scheme;
    private @Nullable EmulatedCluster cluster;
    private @Nullable EngineCrashes crashes;

    /**
     * Opens the ports.
     *
     * @param wanted port of each replica, 0 for one that is free
     * @param certificates what the replicas show, if they speak TLS; else null
     * @throws IOException if one cannot be had
     */
    public Fleet(List<Integer> wanted, @Nullable ReplicaCertificates certificates) throws IOException {
        scheme = certificates == null ? "http" : "https";
        var numbers = new AtomicLong();
        phases = new PhaseLog(List.of());
        try {
            for (int i = 0; i < wanted.size(); i++) {
                int port = wanted.get(i) == 0 ? FreePorts.next() : wanted.get(i);
                ports.add(new Interposer("replica-" + i, port, numbers, certificates, log));
                events.add(new EventInterposer("replica-" + i));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Returns the names of the replicas. */
    public List<String> names() {
        return ports.stream().map(Interposer::name).toList();
    }

    /** Returns the replicas as a gateway is told of them. */
    public List<Backend> backends() {
        return IntStream.range(0, ports.size())
                .mapToObj(i -> new Backend(
                        ports.get(i).name(),
                        URI.create(scheme + "://127.0.0.1:" + ports.get(i).port()),
                        events.get(i).address()))
                .toList();
    }

    /** Starts a new cluster behind the ports, without any faults, and ends the old one. */
    public void renew(FleetSettings settings) throws IOException {
        var old = cluster;
        cluster = null;
        var renewed = EmulatedCluster.serve(settings.hocon());
        cluster = renewed;
        crashes = new EngineCrashes(renewed, settings, ports);
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).endAll();
            events.get(i).set(EventInterposer.Fault.NONE, 0);
            events.get(i)
                    .forwardFrom(URI.create(renewed.kvEvents().orElseThrow().endpoint(i)));
        }
        end(old);
        begin(List.of());
    }

    /**
     * Begins the time of a scenario: what was recorded before is forgotten.
     *
     * @param initial what has happened to the replicas already
     */
    public void begin(List<Injection> initial) {
        stopwatch = Stopwatch.start();
        log = new AttemptLog(stopwatch);
        ports.forEach(port -> port.recordIn(log));
        phases = new PhaseLog(names());
        for (var injection : initial) {
            if (injection.action() instanceof Injection.Begin begin) {
                replicasOf(injection)
                        .forEach(replica -> phases.begin(
                                ports.get(replica).name(),
                                injection.name(),
                                begin.fault().kind().state(),
                                0));
            }
        }
    }

    /** Returns the replicas that are up and show no fault. */
    public List<String> healthy() {
        return ports.stream()
                .filter(port -> !port.hasFault())
                .map(Interposer::name)
                .toList();
    }

    /** Resets connections on which a request has not ended, so that none is left for the next scenario. */
    public void dropBusyConnections() {
        ports.forEach(Interposer::dropBusyConnections);
    }

    /** Returns the time of the scenario. */
    public Stopwatch stopwatch() {
        return stopwatch;
    }

    /** Lets something happen. */
    public void inject(Injection injection) throws IOException {
        for (int replica : replicasOf(injection)) {
            inject(injection, replica);
        }
        if (injection.action() instanceof Injection.OfEngine ofEngine) {
            Objects.requireNonNull(cluster).inject(ofEngine.change());
        }
    }

    private List<Integer> replicasOf(Injection injection) {
        return injection.replica().isPresent()
                ? List.of(injection.replica().getAsInt())
                : IntStream.range(0, ports.size()).boxed().toList();
    }

    private void inject(Injection injection, int replica) throws IOException {
        var port = ports.get(replica);
        var action = injection.action();
        long nowNanos = injection.atNanos() == 0 ? 0 : stopwatch.nanos();
        if (action instanceof Injection.Begin begin) {
            phases.begin(port.name(), injection.name(), begin.fault().kind().state(), nowNanos);
            port.begin(begin.fault());
        } else if (action instanceof Injection.End end) {
            port.end(end.kind());
            phases.end(port.name(), injection.name(), stopwatch.nanos());
        } else if (action instanceof Injection.Events ofEvents) {
            events.get(replica).set(ofEvents.fault(), ofEvents.delayMillis());
            if (ofEvents.fault() == EventInterposer.Fault.NONE) {
                phases.end(port.name(), injection.name(), stopwatch.nanos());
            } else {
                phases.begin(port.name(), injection.name(), ReplicaPhase.State.MISREPORTING, nowNanos);
            }
        } else if (action instanceof Injection.Crash crash) {
            Objects.requireNonNull(crashes).crash(replica, crash.victim(), injection.name(), phases, nowNanos);
        } else if (action instanceof Injection.Restart restart) {
            Objects.requireNonNull(crashes).restart(replica, restart.victim(), injection.name());
        } else if (action instanceof Injection.OfEngine ofEngine && !ofEngine.isEnd()) {
            phases.begin(port.name(), injection.name(), ReplicaPhase.State.FAULTY, nowNanos);
        } else {
            phases.end(port.name(), injection.name(), stopwatch.nanos());
        }
    }

    /** Lets happen what waits for a call or an engine; to be called every now and then. */
    public void look() throws IOException {
        Objects.requireNonNull(crashes).look(phases, stopwatch);
    }

    /** Returns the connections of each replica now. */
    public List<ConnectionSample> sample() {
        long nowNanos = stopwatch.nanos();
        return ports.stream()
                .map(port -> new ConnectionSample(nowNanos, port.name(), port.numOpen(), port.numInFlight()))
                .toList();
    }

    /** Returns the attempts since the scenario's start. */
    public List<Attempt> attempts() {
        return log.attempts();
    }

    /** Returns the states of the replicas since the scenario's start. */
    public List<ReplicaPhase> phases(long endNanos) {
        return phases.until(endNanos);
    }

    private static void end(@Nullable EmulatedCluster old) {
        if (old != null) {
            old.close();
        }
    }

    @Override
    public void close() {
        ports.forEach(Interposer::close);
        events.forEach(EventInterposer::close);
        end(cluster);
        cluster = null;
    }
}
