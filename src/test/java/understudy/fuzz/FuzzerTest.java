package understudy.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import understudy.engine.vllm.queue.SchedulingPolicy;
import understudy.kvcache.KvOutOfMemoryException;
import understudy.settings.ScenarioException;

final class FuzzerTest {

    @Test
    void twoDozenClusters_breakNoLaw() throws InterruptedException {
        findsNothing(new Fuzzer(4, List.of(new RunCheck())), 24);
    }

    @Test
    void twoHundredMemories_breakNoLaw() throws InterruptedException {
        findsNothing(new Fuzzer(2, List.of(new MemoryCheck())), 200);
    }

    private static void findsNothing(Fuzzer fuzzer, int numRuns) throws InterruptedException {
        for (int run = 0; run < numRuns; run++) {
            assertThat(fuzzer.run(run)).as("run %d", run).isEmpty();
        }
        assertThat(fuzzer.numRuns()).isEqualTo(numRuns);
        assertThat(fuzzer.numRefused()).as("most scenarios can run").isLessThan(numRuns / 3);
    }

    @Test
    void brokenSetting_isAllThatIsLeft() throws InterruptedException {
        var finding = find(scenario -> {
            if (scenario.text("engine.scheduling-policy").equals("lpm")) {
                throw new IllegalStateException("lpm is broken");
            }
        });

        assertThat(finding.smallest().text()).isEqualTo("engine.scheduling-policy = lpm\nworkload.requests = 1\n");
        assertThat(finding.failure().kind()).startsWith("IllegalStateException in understudy.fuzz.FuzzerTest.");
        assertThat(finding.failure().message()).startsWith("java.lang.IllegalStateException: lpm is broken\n    at ");
    }

    @Test
    void brokenFault_isAllThatIsLeft() throws InterruptedException {
        var finding = find(scenario -> {
            boolean crashes = scenario.sections("faults.plan").stream()
                    .anyMatch(entry -> entry.text("do").equals("crash"));
            BrokenLawException.require(!crashes, "no crash", () -> "there is one");
        });

        assertThat(finding.smallest().settings().keySet()).containsExactly("workload.requests");
        assertThat(finding.smallest().faults()).singleElement().asString().contains("do = crash");
        assertThat(finding.failure()).isEqualTo(new Failure("no crash", "no crash: there is one"));
    }

    /** Between 5 and 9 requests are left, since half of them would be less than 5, which breaks another law. */
    @Test
    void otherFailure_isNotFollowed() throws InterruptedException {
        var finding = find(scenario -> {
            int count = scenario.wholeNumber("workload.requests", 0, Integer.MAX_VALUE);
            throw new BrokenLawException(count < 5 ? "at least five" : "none at all", count + " requests");
        });

        int left = Integer.parseInt(finding.smallest().settings().get("workload.requests"));
        assertThat(left).isBetween(5, 9);
        assertThat(finding.failure().message()).isEqualTo("none at all: " + left + " requests");
    }

    @Test
    void refusedScenario_isCountedAndNotFound() throws InterruptedException {
        var fuzzer = new Fuzzer(1, List.of(scenario -> {
            throw new ScenarioException("refused");
        }));

        assertThat(fuzzer.run(0)).isEmpty();
        assertThat(fuzzer.numRefused()).isEqualTo(1);
    }

    @Test
    void stoppedSearch_makesNothingSmaller() throws InterruptedException {
        var fuzzer = new Fuzzer(1, List.of(scenario -> {
            throw new IllegalStateException();
        }));
        fuzzer.stop();

        var finding = fuzzer.run(0).orElseThrow();

        assertThat(finding.numTries()).isZero();
        assertThat(finding.smallest()).isEqualTo(ScenarioDraw.of(1, 0));
    }

    @Test
    void seedAndNumber_makeTheScenario() {
        var texts = LongStream.range(0, 200)
                .mapToObj(run -> ScenarioDraw.of(3, run).text())
                .toList();

        assertThat(LongStream.range(0, 200)
                        .mapToObj(run -> ScenarioDraw.of(3, run).text()))
                .isEqualTo(texts);
        assertThat(texts).doesNotHaveDuplicates();
        assertThat(ScenarioDraw.of(4, 0).text()).isNotEqualTo(texts.get(0));
    }

    @Test
    void everythingIsDrawnAtSomeTime() {
        String all = String.join(
                "",
                IntStream.range(0, 400)
                        .mapToObj(run -> ScenarioDraw.of(5, run).text())
                        .toList());

        for (var policy : SchedulingPolicy.values()) {
            assertThat(all).containsIgnoringCase("engine.scheduling-policy = " + policy);
        }
        for (String kind : Set.of("crash", "remove", "resume", "shrink-kv", "slow-gpu", "cut-streams")) {
            assertThat(all).contains("do = " + kind);
        }
        assertThat(all)
                .contains("router.policy = prefix-aware")
                .contains("engine.kind = roseinfer")
                .contains("kv-cache.sessions = detailed")
                .contains("workload.kind = burst");
    }

    /** Returns what is found within 50 runs. */
    private static Finding find(Check check) throws InterruptedException {
        var fuzzer = new Fuzzer(1, List.of(check));
        for (int run = 0; run < 50; run++) {
            var finding = fuzzer.run(run);
            if (finding.isPresent()) {
                return finding.get();
            }
        }
        throw new AssertionError("nothing found");
    }

    @Test
    void engineThatDiesAsTheRealOne_isNotFound() throws InterruptedException {
        var fuzzer = new Fuzzer(1, List.of(scenario -> {
            throw new KvOutOfMemoryException("Out of memory.");
        }));

        assertThat(fuzzer.run(0)).isEmpty();
        assertThat(fuzzer.numRefused()).isZero();
    }
}
