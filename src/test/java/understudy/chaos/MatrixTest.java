package understudy.chaos;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.chaos.gateway.reference.ReferenceGateway;
import understudy.chaos.gateway.reference.WrongDecision;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.law.Verdict;
import understudy.chaos.scenario.ChaosScenario;
import understudy.chaos.scenario.ScenarioReader;

/**
 * The reference gateways keep all laws, and each wrong decision breaks just those that it is about: those about what
 * replicas tell, in the scenarios of the kit itself, which must be hard enough for that.
 */
final class MatrixTest {
    private static final int MAX_RUNS = 3;

    /** Streams of 300 steps of 3 ms, of which every third client leaves. */
    private static final ChaosScenario LONG_STREAMS = scenario("long-streams", """
            load = [{ rate = 12, for = 1s, words = 300, streamed = 1, leave-every = 3 }]
            bounds { grace = 400ms, max-idle-connections = 1 }""");

    /** Two calls of each session: in turn, the second one is hardly ever where the first one was. */
    private static final ChaosScenario SHARED_PREFIXES = scenario("shared-prefixes", """
            load = [{ rate = 30, for = 1500ms, sessions = 20, prefix-words = 200, words = 4 }]
            bounds { min-affinity = 0.7 }""");

    private static final ChaosScenario SHORT_PREFIXES = scenario("short-prefixes", """
            load = [{ rate = 30, for = 1500ms, sessions = 30, prefix-words = 10, words = 4 }]
            bounds { max-imbalance = 2.0 }""");

    private static final ChaosScenario CUT = scenario("cut", """
            load = [{ for = 1200ms, words = 40, streamed = 1 }]
            faults = [{ at = 200ms, do = cut, replica = 0, after-events = 6, for = 700ms }]
            bounds { min-success = 0.3 }""");

    private static final ChaosScenario DRAIN = scenario("drain", """
            load = [{ for = 2s }]
            faults = [{ at = 100ms, do = drain, replica = 0, for = 1800ms }]""");

    private static final ChaosScenario DEAD = scenario("dead", """
            load = [{ for = 1500ms, sessions = 3 }]
            faults = [{ at = 200ms, do = refuse, replica = 0 }]""");

    private static final ChaosScenario REFUSING = scenario("refusing", """
            load = [{ for = 1800ms }]
            faults = [{ at = 100ms, do = status, replica = 0, status = 503, retry-after = 2, for = 1500ms }]""");

    private static final ChaosScenario STUCK = scenario("stuck", """
            load = [{ for = 1200ms }]
            faults = [{ at = 200ms, do = stuck, replica = 0, for = 800ms }]
            bounds { min-success = 0.5 }""");

    private static final ChaosScenario ROTATED = scenario("rotated", """
            load = [{ for = 2s }]
            faults = [{ at = 300ms, do = renewed-certificate }]""");

    private static final ChaosScenario MISNAMED = scenario("misnamed", """
            load = [{ for = 1500ms }]
            faults = [{ at = 300ms, do = misnamed-certificate, replica = 0, for = 1s }]""");

    private static final ChaosScenario HUNG_METRICS = scenario("hung-metrics", """
            load = [{ for = 1s }]
            faults = [{ at = 100ms, do = hung-metrics, replica = 1 }]""");

    private static final Map<WrongDecision, Case> CASES = Map.ofEntries(
            entry(
                    WrongDecision.RETRY_AFTER_FIRST_BYTE,
                    new Case(CUT, Set.of("tokens-in-order", "retries-only-unsent"))),
            entry(
                    WrongDecision.SWALLOWS_STREAM_ERRORS,
                    new Case(CUT, Set.of("tokens-in-order", "stream-errors-reach-client"))),
            entry(WrongDecision.NO_HEALTH_CHECK, new Case(DRAIN, Set.of("only-ready-replicas"))),
            entry(WrongDecision.STICKY_FOR_EVER, new Case(DEAD, Set.of("enough-answered"))),
            entry(WrongDecision.IGNORES_RETRY_AFTER, new Case(REFUSING, Set.of("retry-after-honoured"))),
            entry(WrongDecision.PREFIXES_BY_CHARACTERS, new Case(SHORT_PREFIXES, Set.of("load-balanced"))),
            entry(WrongDecision.ROUND_ROBIN, new Case(SHARED_PREFIXES, Set.of("prefix-affinity"))),
            entry(WrongDecision.LEAKS_CONNECTIONS, new Case(LONG_STREAMS, Set.of("no-connection-leak"))),
            entry(WrongDecision.RUNS_ON, new Case(LONG_STREAMS, Set.of("aborts-reach-replicas"))),
            entry(WrongDecision.BUFFERS_STREAMS, new Case(LONG_STREAMS, Set.of("tokens-stream"))),
            entry(WrongDecision.TRUSTS_ANY_CERTIFICATE, new Case(MISNAMED, Set.of("certificates-verified"))),
            entry(WrongDecision.PINS_FIRST_CERTIFICATE, new Case(ROTATED, Set.of("enough-answered"))),
            entry(WrongDecision.WAITS_FOR_EVER, new Case(STUCK, Set.of("calls-end-once"))),
            entry(WrongDecision.COMPARES_CLOCKS, new Case(builtIn("clock-skew"), Set.of("load-balanced"))),
            entry(WrongDecision.BELIEVES_MODEL_LISTS, new Case(builtIn("wrong-models"), Set.of("enough-answered"))),
            entry(WrongDecision.BELIEVES_METRICS, new Case(builtIn("stale-metrics"), Set.of("load-balanced"))),
            entry(WrongDecision.BELIEVES_NAN, new Case(builtIn("nan-metrics"), Set.of("load-balanced"))),
            entry(WrongDecision.MISSING_IS_IDLE, new Case(builtIn("vanished-series"), Set.of("load-balanced"))),
            entry(WrongDecision.COUNTERS_ONLY_GROW, new Case(builtIn("restarted-counters"), Set.of("enough-answered"))),
            entry(WrongDecision.TURNS_AWAY_BY_QUEUE, new Case(builtIn("runaway-queue"), Set.of("enough-answered"))),
            entry(WrongDecision.WAITS_FOR_METRICS, new Case(HUNG_METRICS, Set.of("calls-end-once", "enough-answered"))),
            entry(WrongDecision.BELIEVES_LATE_EVENTS, new Case(builtIn("late-kv-events"), Set.of("prefix-affinity"))),
            entry(WrongDecision.SKIPS_LOST_EVENTS, new Case(builtIn("unordered-kv-events"), Set.of("prefix-affinity"))),
            entry(WrongDecision.WAITS_FOR_LOST_EVENTS, new Case(builtIn("lost-kv-events"), Set.of("prefix-affinity"))),
            entry(
                    WrongDecision.TAKES_RESTART_FOR_OLD,
                    new Case(builtIn("renumbered-kv-events"), Set.of("prefix-affinity"))),
            entry(
                    WrongDecision.TAKES_DUPLICATE_FOR_RESTART,
                    new Case(builtIn("duplicated-kv-events"), Set.of("prefix-affinity"))),
            entry(WrongDecision.ASSUMES_BLOCK_SIZE, new Case(builtIn("other-block-size"), Set.of("prefix-affinity"))));

    private record Case(ChaosScenario scenario, Set<String> laws) {}

    private static ChaosScenario scenario(String name, String settings) {
        return ScenarioReader.text("scenarios = [{ name = " + name + "\n" + settings + "\n}]")
                .get(0);
    }

    private static ChaosScenario builtIn(String name) {
        return ScenarioReader.builtIn().stream()
                .filter(scenario -> scenario.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    static Stream<WrongDecision> wrongDecisions() {
        return Stream.of(WrongDecision.values()).filter(wrong -> wrong != WrongDecision.NONE);
    }

    /**
     * Which calls meet, and which replica an undecided choice falls on, is the machine's: a wrong decision may do no harm by
     * luck, so it gets three runs to do it.
     */
    @ParameterizedTest
    @MethodSource("wrongDecisions")
    void wrongDecisionBreaksItsLaws(WrongDecision wrong) throws IOException {
        var wanted = CASES.get(wrong);
        var results = new ArrayList<ScenarioResult>();
        for (int seed = 1; seed <= MAX_RUNS; seed++) {
            try (var kit = new ChaosKit(
                    new ReferenceGateway(wrong),
                    List.of(),
                    seed,
                    wanted.scenario().needsTls())) {
                var result = kit.run(wanted.scenario());
                assertThat(wanted.laws()).as(reasons(result)).containsAll(laws(result, Verdict::isBroken));
                if (laws(result, verdict -> !verdict.isKept()).containsAll(wanted.laws())) {
                    return;
                }
                results.add(result);
            }
        }
        // On a machine that is late, the decision may do no harm at all.
        assumeTrue(
                results.stream()
                        .noneMatch(result -> result.evidence().lateness().isTooMuch()),
                "this machine is late");
        assertThat(results).as(wanted.laws() + " were kept in all runs").isEmpty();
    }

    /** Threads that never rest take most of the processors from the kit and from the gateway, which is in its process. */
    @Test
    void goodGatewayBreaksNothingOnAStarvedMachine() throws IOException {
        var isOver = new AtomicBoolean();
        int numBurners = 4 * Runtime.getRuntime().availableProcessors();
        var burners = IntStream.range(0, numBurners)
                .mapToObj(i -> new Thread(
                        () -> {
                            while (!isOver.get()) {
                                Thread.onSpinWait();
                            }
                        },
                        "burner-" + i))
                .toList();
        burners.forEach(burner -> burner.setDaemon(true));
        burners.forEach(Thread::start);
        try (var kit = new ChaosKit(new ReferenceGateway(WrongDecision.NONE), List.of(), 1)) {
            var result = kit.run(DRAIN);

            assertThat(laws(result, Verdict::isBroken))
                    .as(result.evidence().lateness().totalNanos() + " ns late: " + reasons(result))
                    .isEmpty();
        } finally {
            isOver.set(true);
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false"})
    void referenceKeepsAllLaws(boolean isInformed, boolean isTls) throws IOException {
        var broken = new ArrayList<String>();
        try (var kit = new ChaosKit(new ReferenceGateway(isInformed, WrongDecision.NONE), List.of(), 1, isTls)) {
            var scenarios = CASES.entrySet().stream()
                    .filter(entry -> entry.getKey().isOfSignals() == isInformed)
                    .map(entry -> entry.getValue().scenario())
                    .filter(scenario -> scenario.needsTls() == isTls)
                    .distinct()
                    .toList();
            for (var scenario : scenarios) {
                var result = kit.run(scenario);
                if (result.isBroken()) {
                    broken.add(scenario.name() + ": " + reasons(result));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static Set<String> laws(ScenarioResult result, Predicate<Verdict> predicate) {
        return result.verdicts().stream().filter(predicate).map(Verdict::law).collect(Collectors.toSet());
    }

    private static String reasons(ScenarioResult result) {
        return result.verdicts().stream()
                .flatMap(verdict -> verdict.breaches().stream().limit(2))
                .map(Breach::reason)
                .collect(Collectors.joining("; "));
    }
}
