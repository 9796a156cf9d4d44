package understudy.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.chaos.evidence.Lateness;
import understudy.chaos.evidence.ScenarioEvidence;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.law.Verdict;
import understudy.chaos.scenario.NamedScenario;

/** How often a scenario runs, and what ends it. */
final class ConformanceKitTest {
    private static final Named SCENARIO = new Named("scripted", "Nothing happens.", "");

    private record Named(String name, String description, String incident) implements NamedScenario {}

    private record Nothing(String scenario, long durationNanos, Lateness lateness) implements ScenarioEvidence {}

    /** Kit whose scenarios end as a script says: k all laws are kept, b one is broken, d one is in doubt. */
    private static final class Scripted extends ConformanceKit<Named> {
        private final Queue<Character> script;

        Scripted(Collection<Character> script) {
            this.script = new ArrayDeque<>(script);
        }

        @Override
        ScenarioResult runOnce(Named scenario) {
            return result(script.remove());
        }
    }

    private static ScenarioResult result(char outcome) {
        var breaches = outcome == 'k'
                ? List.<Breach>of()
                : List.of(new Breach("law", "call-0001", "", 0, "something was late"));
        return new ScenarioResult(
                "",
                new Nothing("scripted", 1, Lateness.NONE),
                List.of(new Verdict("law", "It is in time.", breaches, outcome == 'd' ? "the machine was late" : "")));
    }

    /** The rest of the script is what would have come next: a doubt is tried again, at most three times in all. */
    @ParameterizedTest
    @CsvSource({"kb, k, b", "bk, b, k", "dkb, k, b", "dbk, b, k", "ddkb, k, b", "dddk, d, k"})
    void doubtIsTriedAgain(String script, char last, String rest) throws IOException {
        try (var kit = new Scripted(script.chars().mapToObj(each -> (char) each).toList())) {
            var result = kit.run(SCENARIO);

            assertThat(result.verdicts()).isEqualTo(result(last).verdicts());
            assertThat(kit.script).hasToString("[" + rest + "]");
        }
    }

    @Test
    void kitThatIsStoppedTriesNothingAgain() throws IOException {
        try (var kit = new Scripted(List.of('d', 'k'))) {
            kit.stop();

            assertThat(kit.run(SCENARIO).isInDoubt()).isTrue();
            assertThat(kit.script).hasSize(1);
        }
    }

    @Test
    void stopInterruptsAWaitForTheTarget_andNoneThatIsOver() throws InterruptedException {
        try (var kit = new Scripted(List.of());
                var other = new Scripted(List.of())) {
            var interruption = kit.interruptionByStop();
            other.interruptionByStop().cancel(false);

            other.stop();
            assertThat(Thread.interrupted()).isFalse();
            kit.stop();
            assertThat(interruption).isCompleted();
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
