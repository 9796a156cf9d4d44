package understudy.chaos.fleet;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.chaos.evidence.ReplicaPhase.State;
import understudy.chaos.fleet.Injection.Victim;
import understudy.chaos.proxy.Interposer;
import understudy.chaos.proxy.PrefillLeg;
import understudy.faults.Fault;
import understudy.faults.FleetChange;
import understudy.runtime.Stopwatch;
import understudy.testkit.EmulatedCluster;

/** Deaths and returns of the engines of one cluster, and what gateways see of them. One thread uses it. */
final class EngineCrashes {
    private static final int CONNECT_MILLIS = 200;

    private final EmulatedCluster cluster;
    private final FleetSettings settings;
    private final List<Interposer> ports;
    private final Map<Integer, PrefillLeg> pairs = new LinkedHashMap<>();
    /** Deaths that wait for a call which is between the engines of a pair. */
    private final List<Death> due = new ArrayList<>();

    /** Deaths for which the call waits on: it must not reach an engine that is about to die, which may yet answer. */
    private final List<Dying> dying = new ArrayList<>();

    private final List<Death> returning = new ArrayList<>();

    private record Death(int replica, Victim victim, String fault) {}

    private record Dying(Death death, List<InetSocketAddress> addresses) {}

    /** Points the ports at a cluster. */
    EngineCrashes(EmulatedCluster cluster, FleetSettings settings, List<Interposer> ports) {
        this.cluster = cluster;
        this.settings = settings;
        this.ports = ports;
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).forwardTo(Objects.requireNonNull(address(i)));
            var prefill = settings.prefillEngine(i);
            if (prefill.isPresent()) {
                pairs.put(i, new PrefillLeg(Objects.requireNonNull(address(prefill.getAsInt()))));
            }
            ports.get(i).prefillBy(pairs.get(i));
        }
    }

    private @Nullable InetSocketAddress address(int engine) {
        return cluster.server().replicaAddresses().get(engine);
    }

    /** Lets engines of a replica die: at once, or of a pair when the next prompt is computed. */
    void crash(int replica, Victim victim, String fault, PhaseLog phases, long nowNanos) {
        var death = new Death(replica, victim, fault);
        if (victim == Victim.ALL) {
            die(death, phases, nowNanos);
        } else {
            due.add(death);
            pair(replica).hold();
        }
    }

    private PrefillLeg pair(int replica) {
        return Objects.requireNonNull(pairs.get(replica));
    }

    private void die(Death death, PhaseLog phases, long nowNanos) {
        var port = ports.get(death.replica);
        // Without its first engine a pair still looks well to probes, which the other one answers.
        phases.begin(port.name(), death.fault, death.victim == Victim.PREFILL ? State.STUCK : State.DEAD, nowNanos);
        if (death.victim == Victim.ALL) {
            port.refuse();
        }
        engines(death).forEach(engine -> cluster.inject(new Fault.Crash(engine)));
    }

    private List<Integer> engines(Death death) {
        var engines = new ArrayList<Integer>();
        if (death.victim != Victim.PREFILL) {
            engines.add(death.replica);
        }
        if (death.victim != Victim.DECODE) {
            settings.prefillEngine(death.replica).ifPresent(engines::add);
        }
        return engines;
    }

    /** Starts engines again that have died, and forgets those that have not yet. */
    void restart(int replica, Victim victim, String fault) {
        var death = new Death(replica, victim, fault);
        if (due.remove(death)) {
            pair(replica).release();
        } else {
            if (dying.removeIf(each -> each.death.equals(death))) {
                pair(replica).release();
            }
            engines(death).forEach(engine -> cluster.inject(new FleetChange.Restart(engine)));
            returning.add(death);
        }
    }

    /** Does what is due, and opens the ports of replicas whose engines are up again. */
    void look(PhaseLog phases, Stopwatch stopwatch) throws IOException {
        for (var death : List.copyOf(due)) {
            if (pair(death.replica).isHeld()) {
                due.remove(death);
                var addresses = engines(death).stream()
                        .map(this::address)
                        .filter(Objects::nonNull)
                        .toList();
                die(death, phases, stopwatch.nanos());
                dying.add(new Dying(death, addresses));
            }
        }
        for (var each : List.copyOf(dying)) {
            if (each.addresses.stream().noneMatch(EngineCrashes::answers)) {
                dying.remove(each);
                pair(each.death.replica).release();
            }
        }
        for (var death : List.copyOf(returning)) {
            if (engines(death).stream().allMatch(this::isUp)) {
                returning.remove(death);
                ports.get(death.replica).listenAgain();
                // After that and not before: to find out that an engine is up may take a while.
                phases.end(ports.get(death.replica).name(), death.fault, stopwatch.nanos());
            }
        }
    }

    private boolean isUp(int engine) {
        var address = address(engine);
        return address != null && answers(address);
    }

    private static boolean answers(InetSocketAddress address) {
        try (var socket = new Socket()) {
            socket.connect(address, CONNECT_MILLIS);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
