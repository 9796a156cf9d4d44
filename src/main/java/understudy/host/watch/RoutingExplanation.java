package understudy.host.watch;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import understudy.cluster.ClusterEvent;
import understudy.report.Tables;
import understudy.routing.RoutingScores;

/** Explanation of a router's first decisions: the figures of the replica it chose and of the best other one. */
public final class RoutingExplanation {
    private static final double NANOS_PER_SECOND = 1e9;

    private final int maxDecisions;
    private final List<ClusterEvent.Routed> decisions = new ArrayList<>();

    /** @param maxDecisions most that are explained, at least 1 */
    public RoutingExplanation(int maxDecisions) {
        this.maxDecisions = maxDecisions;
    }

    /** Handles an event, on the emulation's thread. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.Routed routed && decisions.size() < maxDecisions) {
            decisions.add(routed);
        }
    }

    /** Returns a table for people. */
    public String table() {
        return Tables.text(
                        decisions,
                        List.of(
                                Tables.decimals("Time (s)", "%.6f", decision -> decision.atNanos() / NANOS_PER_SECOND),
                                Tables.counts("Request", ClusterEvent.Routed::requestId),
                                Tables.counts("Replica", ClusterEvent.Routed::replicaIndex),
                                Tables.words(
                                        "Rule", decision -> decision.scores().rule()),
                                Tables.words("It has", decision -> parts(decision, decision.replicaIndex())),
                                Tables.words("Best other", RoutingExplanation::bestOther)))
                + "\n\n";
    }

    /** Returns a decision in words. */
    static String words(ClusterEvent.Routed decision) {
        String other = bestOther(decision);
        return decision.scores().rule() + "; it has " + parts(decision, decision.replicaIndex())
                + (other.isEmpty() ? "" : "; best other " + other);
    }

    private static String bestOther(ClusterEvent.Routed decision) {
        return decision.scores()
                .ranked(decision.ready())
                .intStream()
                .filter(replica -> replica != decision.replicaIndex())
                .mapToObj(replica -> replica + ": " + parts(decision, replica))
                .findFirst()
                .orElse("");
    }

    private static String parts(ClusterEvent.Routed decision, int replica) {
        return decision.scores().parts().stream()
                .map(part -> part.name() + " " + part.byReplica().getLong(replica))
                .collect(Collectors.joining(", "));
    }

    /** Writes a line for each part of each decision and each replica that could have been chosen. */
    public void writeCsv(Writer out) throws IOException {
        out.write("time_s,request,chosen_replica,rule,replica,part,value\n");
        for (var decision : decisions) {
            for (var part : decision.scores().parts()) {
                for (int replica : decision.ready()) {
                    out.write(line(decision, part, replica));
                }
            }
        }
    }

    private static String line(ClusterEvent.Routed decision, RoutingScores.Part part, int replica) {
        return String.format(
                Locale.ROOT,
                "%.9f,%d,%d,\"%s\",%d,\"%s\",%d\n",
                decision.atNanos() / NANOS_PER_SECOND,
                decision.requestId(),
                decision.replicaIndex(),
                decision.scores().rule(),
                replica,
                part.name(),
                part.byReplica().getLong(replica));
    }
}
