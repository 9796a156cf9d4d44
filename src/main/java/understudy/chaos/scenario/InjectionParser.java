package understudy.chaos.scenario;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import understudy.chaos.fleet.FleetSettings;
import understudy.chaos.fleet.Injection;
import understudy.chaos.proxy.EventInterposer;
import understudy.chaos.proxy.ReplicaFault;
import understudy.chaos.proxy.ReplicaFaultBuilder;
import understudy.faults.FaultParser;
import understudy.settings.EntryFields;

/**
 * Reads an entry of {@code faults}: {@code do} names a fault on the wire, {@code crash} or {@code restart} of the
 * process, or a fault of the engine with the keys that it has in a cluster's {@code faults.plan}.
 *
 * <p>Not reusable: one instance reads one entry.
 */
final class InjectionParser {
    private static final String CRASH = "crash";
    private static final SortedMap<String, Injection.Victim> CRASHES = new TreeMap<>(Map.of(
            CRASH,
            Injection.Victim.ALL,
            "crash-prefill",
            Injection.Victim.PREFILL,
            "crash-decode",
            Injection.Victim.DECODE));
    private static final String RESTART = "restart";
    private static final String REPLICA = "replica";
    /** What operators do to a cluster, which a gateway would have to be told. */
    private static final Set<String> OF_OPERATORS = Set.of("add", "remove", "resume", "drain", RESTART, CRASH);

    private static final SortedMap<String, EventInterposer.Fault> EVENT_FAULTS = new TreeMap<>(Map.of(
            "late-kv-events", EventInterposer.Fault.LATE,
            "lost-kv-events", EventInterposer.Fault.LOST,
            "duplicated-kv-events", EventInterposer.Fault.TWICE,
            "unordered-kv-events", EventInterposer.Fault.OUT_OF_ORDER,
            "renumbered-kv-events", EventInterposer.Fault.RESTARTED_SEQUENCE,
            "doubled-kv-blocks", EventInterposer.Fault.DOUBLED_BLOCKS));

    private static final int USUAL_DELAY_MILLIS = 500;
    private static final int MAX_COUNT = 1_000_000;

    private final Map<String, String> written;
    private final EntryFields fields;
    private final FleetSettings fleet;

    InjectionParser(Map<String, String> written, FleetSettings fleet) {
        this.written = written;
        fields = new EntryFields(written);
        this.fleet = fleet;
    }

    /**
     * Returns what happens, each with its end if it has one.
     *
     * @throws IllegalArgumentException if a key or value cannot be used; the message says which, and what is allowed
     */
    List<Injection> parse() {
        String name = fields.text("do");
        long atNanos = fields.nanos("at");
        var kind = Arrays.stream(ReplicaFault.Kind.values())
                .filter(each -> each.written().equals(name))
                .findFirst();
        if (kind.isPresent()) {
            return onTheWire(name, kind.get(), atNanos);
        }
        var ofEvents = EVENT_FAULTS.get(name);
        if (ofEvents != null) {
            return ofEvents(name, ofEvents, atNanos);
        }
        return CRASHES.containsKey(name) || name.equals(RESTART) ? ofProcess(name, atNanos) : ofEngine(name, atNanos);
    }

    private List<Injection> onTheWire(String name, ReplicaFault.Kind kind, long atNanos) {
        var usual = ReplicaFault.of(kind);
        var replica = replica();
        var fault = ReplicaFaultBuilder.builder(usual)
                .every(count("every", 1, usual.every()))
                .afterEvents(count("after-events", 0, usual.afterEvents()))
                .status(count("status", 100, usual.status()))
                .retryAfterSeconds(count("retry-after", 0, usual.retryAfterSeconds()))
                .delayMillis(delayMillis(usual.delayMillis()))
                .series(series())
                .build();
        var injections = new ArrayList<Injection>();
        injections.add(new Injection(atNanos, name, replica, new Injection.Begin(fault)));
        if (fields.has("for")) {
            injections.add(new Injection(atNanos + fields.nanos("for"), name, replica, new Injection.End(kind)));
        }
        fields.requireNothingElse();
        return injections;
    }

    private List<Injection> ofEvents(String name, EventInterposer.Fault fault, long atNanos) {
        var replica = replica();
        int delayMillis = delayMillis(USUAL_DELAY_MILLIS);
        var injections = new ArrayList<Injection>();
        injections.add(new Injection(atNanos, name, replica, new Injection.Events(fault, delayMillis)));
        if (fields.has("for")) {
            var end = new Injection.Events(EventInterposer.Fault.NONE, 0);
            injections.add(new Injection(atNanos + fields.nanos("for"), name, replica, end));
        }
        fields.requireNothingElse();
        return injections;
    }

    private List<Injection> ofProcess(String name, long atNanos) {
        if (atNanos == 0) {
            throw new IllegalArgumentException("at is 0s, must be more for " + name);
        }
        var replica = replica();
        if (replica.isEmpty()) {
            throw new IllegalArgumentException("replica is missing");
        }
        var victim = CRASHES.getOrDefault(name, Injection.Victim.ALL);
        if (victim != Injection.Victim.ALL && !fleet.isPair(replica.getAsInt())) {
            throw new IllegalArgumentException(
                    name + " is for pairs of engines, and replica " + replica.getAsInt() + " must be vllm-pd");
        }
        boolean isRestart = name.equals(RESTART);
        String fault = isRestart ? CRASH : name;
        var injections = new ArrayList<Injection>();
        var action = isRestart ? new Injection.Restart(victim) : new Injection.Crash(victim);
        injections.add(new Injection(atNanos, fault, replica, action));
        if (!isRestart && fields.has("for")) {
            injections.add(new Injection(atNanos + fields.nanos("for"), fault, replica, new Injection.Restart(victim)));
        }
        fields.requireNothingElse();
        return injections;
    }

    private List<Injection> ofEngine(String name, long atNanos) {
        if (!FaultParser.names().contains(name) || OF_OPERATORS.contains(name)) {
            var names = Stream.of(
                            Arrays.stream(ReplicaFault.Kind.values()).map(ReplicaFault.Kind::written),
                            EVENT_FAULTS.keySet().stream(),
                            Stream.concat(CRASHES.keySet().stream(), Stream.of(RESTART)),
                            FaultParser.names().stream().filter(each -> !OF_OPERATORS.contains(each)))
                    .flatMap(each -> each)
                    .toList();
            throw EntryFields.unusable("do", name, "one of " + String.join(", ", names));
        }
        var replica = replica();
        var withoutTime = new HashMap<>(written);
        withoutTime.remove("at");
        var changes = FaultParser.parse(withoutTime, atNanos);
        var injections = new ArrayList<Injection>();
        for (var change : changes) {
            boolean isEnd = !injections.isEmpty();
            injections.add(
                    new Injection(change.atNanos(), name, replica, new Injection.OfEngine(change.change(), isEnd)));
        }
        return injections;
    }

    private OptionalInt replica() {
        if (!fields.has(REPLICA)) {
            return OptionalInt.empty();
        }
        int replica = count(REPLICA, 0, 0);
        int numReplicas = fleet.engines().size();
        if (replica >= numReplicas) {
            throw EntryFields.unusable(REPLICA, fields.text(REPLICA), "below " + numReplicas);
        }
        return OptionalInt.of(replica);
    }

    /** Returns the figures in a text such as {@code vllm:num_requests_waiting=0, vllm:num_requests_running=NaN}. */
    private Map<String, String> series() {
        var series = new LinkedHashMap<String, String>();
        if (fields.has("series")) {
            for (String part : fields.text("series").split(",", -1)) {
                int equals = part.indexOf('=');
                String name = (equals < 0 ? part : part.substring(0, equals)).strip();
                series.put(name, equals < 0 ? "" : part.substring(equals + 1).strip());
            }
        }
        return series;
    }

    private int count(String key, int min, int usual) {
        return fields.has(key) ? fields.wholeNumber(key, min, MAX_COUNT) : usual;
    }

    private int delayMillis(int usual) {
        return fields.has("delay") ? (int) (fields.nanos("delay") / 1_000_000) : usual;
    }
}
