package understudy.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Function;
import understudy.settings.EntryFields;
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
                    parser -> new FleetChange.Add(parser.fields.has("group") ? parser.fields.text("group") : "")),
            Map.entry("crash", parser -> new Fault.Crash(parser.replica())),
            Map.entry("restart", parser -> new FleetChange.Restart(parser.replica())),
            Map.entry("drain", parser -> new FleetChange.Drain(parser.replica())),
            Map.entry("resume", parser -> new FleetChange.Resume(parser.replica())),
            Map.entry("remove", parser -> new FleetChange.Remove(parser.replica())),
            Map.entry(
                    "slow-gpu",
                    parser -> new Fault.SlowGpu(parser.replica(), parser.fields.number("factor", 0.001, 1e6))),
            Map.entry(
                    "shrink-kv",
                    parser -> new Fault.ShrinkKv(
                            parser.replica(), parser.fields.wholeNumber("num-gpu-blocks", 2, MAX_COUNT))),
            Map.entry(
                    "slow-link",
                    parser -> new Fault.SlowLink(
                            parser.replicaOrAll(), parser.link(), parser.fields.number("factor", 0, 1))),
            Map.entry("fail-transfers", FaultParser::failTransfers),
            Map.entry("lose-kv", parser -> new Fault.LoseKv(parser.replica(), parser.fields.number("share", 0, 1))),
            Map.entry(
                    "error-rate",
                    parser -> new Fault.ErrorRate(
                            parser.replicaOrAll(), parser.fields.number("rate", 0, 1), parser.status())),
            Map.entry(
                    "error-sequence",
                    parser -> new Fault.ErrorSequence(
                            parser.replicaOrAll(), parser.fields.wholeNumber("count", 0, MAX_COUNT), parser.status())),
            Map.entry(
                    "cut-streams",
                    parser -> new Fault.CutStreams(
                            parser.replicaOrAll(),
                            parser.fields.number("rate", 0, 1),
                            parser.fields.wholeNumber("after-tokens", 1, MAX_COUNT),
                            parser.isReset())),
            Map.entry(
                    "malform-streams",
                    parser -> new Fault.MalformStreams(
                            parser.replicaOrAll(),
                            parser.fields.number("rate", 0, 1),
                            parser.fields.wholeNumber("at-token", 1, MAX_COUNT))),
            Map.entry(
                    "latency-spike",
                    parser -> new Fault.LatencySpike(parser.replicaOrAll(), parser.fields.nanos("delay"))));

    private final EntryFields fields;

    private FaultParser(Map<String, String> fields) {
        this.fields = new EntryFields(fields);
    }

    /**
     * Reads an entry of a plan, which has the keys {@code at}, and {@code for} if it ends by itself.
     *
     * @throws IllegalArgumentException if a key or value cannot be used; the message says which, and what is allowed
     */
    public static List<FaultPlan.TimedChange> parseTimed(Map<String, String> fields) {
        var parser = new FaultParser(fields);
        return parser.timed(parser.fields.nanos("at"));
    }

    /** Reads an entry that happens at {@code nowNanos}; see {@link #parseTimed}. */
    public static List<FaultPlan.TimedChange> parse(Map<String, String> fields, long nowNanos) {
        return new FaultParser(fields).timed(nowNanos);
    }

    private List<FaultPlan.TimedChange> timed(long atNanos) {
        var change = change();
        var changes = new ArrayList<FaultPlan.TimedChange>();
        changes.add(new FaultPlan.TimedChange(atNanos, change));
        var undo = change.undo();
        if (undo.isEmpty()) {
            fields.refuse("for", " takes no duration (for)");
        } else if (fields.has("for")) {
            changes.add(new FaultPlan.TimedChange(atNanos + fields.nanos("for"), undo.get()));
        }
        fields.requireNothingElse();
        return changes;
    }

    /** Returns the names of all faults and operations. */
    public static List<String> names() {
        return KINDS.stream().map(Map.Entry::getKey).toList();
    }

    private ClusterChange change() {
        String name = fields.text("do");
        for (var kind : KINDS) {
            if (kind.getKey().equals(name)) {
                return kind.getValue().apply(this);
            }
        }
        throw EntryFields.unusable("do", name, "one of " + String.join(", ", names()));
    }

    /** The network is one: its transfers fail without regard to their replica. */
    private Fault failTransfers() {
        var link = link();
        var replica = link == Fault.LinkKind.HOST ? replicaOrAll() : Fault.ALL_REPLICAS;
        return new Fault.FailTransfers(replica, link, fields.number("rate", 0, 1));
    }

    private Fault.LinkKind link() {
        return switch (fields.text("link")) {
            case "network" -> Fault.LinkKind.NETWORK;
            case "host" -> Fault.LinkKind.HOST;
            default -> throw EntryFields.unusable("link", fields.text("link"), "network or host");
        };
    }

    private int replica() {
        return fields.wholeNumber("replica", 0, MAX_COUNT);
    }

    private OptionalInt replicaOrAll() {
        return fields.has("replica") ? OptionalInt.of(replica()) : Fault.ALL_REPLICAS;
    }

    private boolean isReset() {
        String reset = fields.has(RESET) ? fields.text(RESET) : "false";
        return switch (reset) {
            case "true" -> true;
            case "false" -> false;
            default -> throw EntryFields.unusable(RESET, reset, "true or false");
        };
    }

    private int status() {
        return fields.has(STATUS) ? status(STATUS, fields.text(STATUS), "") : RequestFault.DEFAULT_STATUS;
    }

    /**
     * Reads the status of an error; {@code key}, and the words before the list of what is allowed, are for the message of
     * the {@link IllegalArgumentException} if it is none.
     */
    public static int status(String key, String text, String orElse) {
        long status = Numbers.parseWhole(text).orElse(0);
        if (status != (int) status || !RequestFault.STATUSES.contains((int) status)) {
            throw EntryFields.unusable(key, text, orElse + "one of " + RequestFault.STATUSES);
        }
        return (int) status;
    }
}
