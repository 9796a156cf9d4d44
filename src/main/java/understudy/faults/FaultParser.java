package understudy.faults;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import understudy.settings.Durations;
import understudy.settings.Numbers;

/**
 * Reads a fault or an operation from its written form: {@code do} names it, and each kind has its own further keys.
 * Scenarios and requests to the cluster share it.
 *
 * <p>Not reusable: one instance reads one entry.
 */
public final class FaultParser {
    private static final int MAX_COUNT = 1_000_000_000;
    private static final String STATUS = "status";
    private static final String RESET = "reset";

    /** Parsers of faults and operations by name, in the order in which messages list the names. */
    private static final List<Map.Entry<String, Function<FaultParser, ClusterChange>>> KINDS = List.of(
            Map.entry(
                    "add",
                    fields -> new FleetChange.Add(fields.fields.containsKey("group") ? fields.text("group") : "")),
            Map.entry("crash", fields -> new Fault.Crash(fields.replica())),
            Map.entry("restart", fields -> new FleetChange.Restart(fields.replica())),
            Map.entry("drain", fields -> new FleetChange.Drain(fields.replica())),
            Map.entry("resume", fields -> new FleetChange.Resume(fields.replica())),
            Map.entry("remove", fields -> new FleetChange.Remove(fields.replica())),
            Map.entry("slow-gpu", fields -> new Fault.SlowGpu(fields.replica(), fields.number("factor", 0.001, 1e6))),
            Map.entry(
                    "shrink-kv",
                    fields -> new Fault.ShrinkKv(fields.replica(), fields.wholeNumber("num-gpu-blocks", 2, MAX_COUNT))),
            Map.entry(
                    "slow-link",
                    fields -> new Fault.SlowLink(fields.replicaOrAll(), fields.link(), fields.number("factor", 0, 1))),
            Map.entry("fail-transfers", FaultParser::failTransfers),
            Map.entry("lose-kv", fields -> new Fault.LoseKv(fields.replica(), fields.number("share", 0, 1))),
            Map.entry(
                    "error-rate",
                    fields -> new Fault.ErrorRate(fields.replicaOrAll(), fields.number("rate", 0, 1), fields.status())),
            Map.entry(
                    "error-sequence",
                    fields -> new Fault.ErrorSequence(
                            fields.replicaOrAll(), fields.wholeNumber("count", 0, MAX_COUNT), fields.status())),
            Map.entry(
                    "cut-streams",
                    fields -> new Fault.CutStreams(
                            fields.replicaOrAll(),
                            fields.number("rate", 0, 1),
                            fields.wholeNumber("after-tokens", 1, MAX_COUNT),
                            fields.isReset())),
            Map.entry(
                    "malform-streams",
                    fields -> new Fault.MalformStreams(
                            fields.replicaOrAll(),
                            fields.number("rate", 0, 1),
                            fields.wholeNumber("at-token", 1, MAX_COUNT))),
            Map.entry("latency-spike", fields -> new Fault.LatencySpike(fields.replicaOrAll(), fields.nanos("delay"))));

    private final Map<String, String> fields;
    private final Set<String> used = new HashSet<>();

    private FaultParser(Map<String, String> fields) {
        this.fields = fields;
    }

    /**
     * Reads an entry of a plan, which has the keys {@code at}, and {@code for} if it ends by itself.
     *
     * @throws IllegalArgumentException if a key or value cannot be used; the message says which, and what is allowed
     */
    public static List<FaultPlan.TimedChange> parseTimed(Map<String, String> fields) {
        var parser = new FaultParser(fields);
        return parser.timed(parser.nanos("at"));
    }

    /** Reads an entry that happens at {@code nowNanos}; see {@link #parseTimed}. */
    public static List<FaultPlan.TimedChange> parse(Map<String, String> fields, long nowNanos) {
        return new FaultParser(fields).timed(nowNanos);
    }

    private List<FaultPlan.TimedChange> timed(long atNanos) {
        var change = change();
        var changes = new ArrayList<FaultPlan.TimedChange>();
        changes.add(new FaultPlan.TimedChange(atNanos, change));
        if (fields.containsKey("for")) {
            long lastsNanos = nanos("for");
            var undo = change.undo()
                    .orElseThrow(() -> new IllegalArgumentException(text("do") + " takes no duration (for)"));
            changes.add(new FaultPlan.TimedChange(atNanos + lastsNanos, undo));
        }
        requireNothingElse();
        return changes;
    }

    /** Returns the names of all faults and operations. */
    public static List<String> names() {
        return KINDS.stream().map(Map.Entry::getKey).toList();
    }

    private ClusterChange change() {
        String name = text("do");
        for (var kind : KINDS) {
            if (kind.getKey().equals(name)) {
                return kind.getValue().apply(this);
            }
        }
        throw unusable("do", name, "one of " + String.join(", ", names()));
    }

    /** The network is one: its transfers fail without regard to their replica. */
    private Fault failTransfers() {
        var link = link();
        var replica = link == Fault.LinkKind.HOST ? replicaOrAll() : Fault.ALL_REPLICAS;
        return new Fault.FailTransfers(replica, link, number("rate", 0, 1));
    }

    private Fault.LinkKind link() {
        return switch (text("link")) {
            case "network" -> Fault.LinkKind.NETWORK;
            case "host" -> Fault.LinkKind.HOST;
            default -> throw unusable("link", text("link"), "network or host");
        };
    }

    private int replica() {
        return wholeNumber("replica", 0, MAX_COUNT);
    }

    private OptionalInt replicaOrAll() {
        return fields.containsKey("replica") ? OptionalInt.of(replica()) : Fault.ALL_REPLICAS;
    }

    private boolean isReset() {
        String reset = fields.containsKey(RESET) ? text(RESET) : "false";
        return switch (reset) {
            case "true" -> true;
            case "false" -> false;
            default -> throw unusable(RESET, reset, "true or false");
        };
    }

    private int status() {
        return fields.containsKey(STATUS) ? status(STATUS, text(STATUS), "") : RequestFault.DEFAULT_STATUS;
    }

    /**
     * Reads the status of an error; {@code key}, and the words before the list of what is allowed, are for the message of
     * the {@link IllegalArgumentException} if it is none.
     */
    public static int status(String key, String text, String orElse) {
        long status = Numbers.parseWhole(text).orElse(0);
        if (status != (int) status || !RequestFault.STATUSES.contains((int) status)) {
            throw unusable(key, text, orElse + "one of " + RequestFault.STATUSES);
        }
        return (int) status;
    }

    private int wholeNumber(String key, int min, int max) {
        return wholeNumber(key, text(key), min, max);
    }

    /** Reads a whole number; {@code key} is for the message of the {@link IllegalArgumentException} if it is none. */
    public static int wholeNumber(String key, String text, int min, int max) {
        long number = Numbers.parseWhole(text)
                .orElseThrow(() -> unusable(key, text, "a whole number from " + min + " to " + max));
        if (number >= min && number <= max) {
            return (int) number;
        }
        throw unusable(key, text, "from " + min + " to " + max);
    }

    private double number(String key, double min, double max) {
        double number = Numbers.parse(text(key));
        if (number >= min && number <= max) {
            return number;
        }
        throw unusable(key, text(key), (Double.isNaN(number) ? "a number from " : "from ") + min + " to " + max);
    }

    private long nanos(String key) {
        return durationNanos(key, text(key));
    }

    /** Reads a duration; {@code key} is for the message of the {@link IllegalArgumentException} if it is none. */
    public static long durationNanos(String key, String text) {
        return Math.round(Durations.nanos(text).orElseThrow(() -> unusable(key, text, Durations.ALLOWED)));
    }

    private String text(String key) {
        used.add(key);
        String text = fields.get(key);
        if (text == null) {
            throw new IllegalArgumentException(key + " is missing");
        }
        return text;
    }

    private void requireNothingElse() {
        for (String key : fields.keySet()) {
            if (!used.contains(key)) {
                throw new IllegalArgumentException("unknown key " + key + " for " + text("do") + "; it takes "
                        + String.join(", ", used.stream().sorted().toList()));
            }
        }
    }

    private static IllegalArgumentException unusable(String key, String text, String allowed) {
        return new IllegalArgumentException(key + " is \"" + text + "\", must be " + allowed);
    }
}
