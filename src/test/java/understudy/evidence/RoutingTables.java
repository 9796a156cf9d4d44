package understudy.evidence;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import understudy.report.RunReport;
import understudy.routing.policy.RoutingPolicies;

/**
 * Prints the tables of the manual that compare all routing policies: {@code RoutingTables TRACE} takes Mooncake's
 * conversation trace. By hand, after {@code mvn test-compile}; the tables depend on the scenarios alone.
 */
public final class RoutingTables {
    private static final List<Integer> CHATS_PER_SECOND = List.of(4, 10, 16);

    /** Seconds in which chats begin, and turns that a chat has on average. */
    private static final int CHAT_SECONDS = 200;

    private static final int MEAN_TURNS = 4;

    private RoutingTables() {}

    /** Takes the path of the trace, or {@code -} for the chat alone. */
    public static void main(String[] args) throws Exception {
        if (!args[0].equals("-")) {
            print("Mooncake", "conf/routing/mooncake-16.conf", Map.of("workload.trace", args[0]));
        }
        for (int perSecond : CHATS_PER_SECOND) {
            int numRequests = perSecond * MEAN_TURNS * CHAT_SECONDS;
            print(
                    "Chat, " + perSecond + " conversations per second",
                    "conf/routing/chat.conf",
                    Map.of("workload.arrivals.request-rate", "" + perSecond, "workload.requests", "" + numRequests));
        }
    }

    private static void print(String title, String file, Map<String, String> settings) throws Exception {
        System.out.printf("%s%n%n", title);
        System.out.println(
                "| `router.policy` | hit rate | TTFT p50 | TTFT p99 | ITL p99 | tokens/s | busiest / mean |");
        System.out.println("|---|---|---|---|---|---|---|");
        for (String policy : RoutingPolicies.builtInNames()) {
            var all = new TreeMap<>(settings);
            all.put("router.policy", policy);
            System.out.println(row(policy, RunReport.of(RoutingRun.run(policy, file, all))));
        }
        System.out.println();
    }

    private static String row(String policy, RunReport report) {
        return String.format(
                Locale.ROOT,
                "| `%s` | %.1f %% | %.0f ms | %.0f ms | %.0f ms | %.0f | %.2f |",
                policy,
                100 * report.prefixCacheHitRate(),
                report.ttft().p50Nanos() / 1e6,
                report.ttft().p99Nanos() / 1e6,
                report.itl().p99Nanos() / 1e6,
                report.outputThroughput(),
                RoutingRun.imbalance(report));
    }
}
