package understudy.chaos.answer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import understudy.chaos.autoscaler.law.ScalingLaws;
import understudy.chaos.law.Laws;
import understudy.chaos.law.ScenarioResult;

/**
 * Result of the kit for one target.
 *
 * @param kind what the target is
 * @param target how reports name it
 * @param seed of the load and of the faults
 * @param scenarios results, in the order in which the scenarios ran
 * @param needTls names of scenarios that did not run, because replicas must speak TLS in them
 */
public record KitResult(Kind kind, String target, long seed, List<ScenarioResult> scenarios, List<String> needTls) {

    public KitResult {
        scenarios = List.copyOf(scenarios);
        needTls = List.copyOf(needTls);
    }

    /** What the kit judges. */
    public enum Kind {
        GATEWAY("Gateway"),
        AUTOSCALER("Autoscaler");

        private final String title;

        Kind(String title) {
            this.title = title;
        }

        /** Returns the word at the beginning of a sentence. */
        String title() {
            return title;
        }
    }

    /** Returns whether all laws were kept. */
    public boolean isPassed() {
        return scenarios.stream().allMatch(ScenarioResult::isPassed);
    }

    /** Returns whether any law was broken. */
    public boolean isBroken() {
        return scenarios.stream().anyMatch(ScenarioResult::isBroken);
    }

    /** Returns how many scenarios broke no law, but have one that could not be judged. */
    public long numInDoubt() {
        return scenarios.stream().filter(ScenarioResult::isInDoubt).count();
    }

    /** Returns how many scenarios were passed. */
    public long numPassed() {
        return scenarios.stream().filter(ScenarioResult::isPassed).count();
    }

    /** Returns the result in a line, without a full stop. */
    String summary() {
        return numPassed() + " of " + scenarios.size() + " scenarios passed"
                + (numInDoubt() > 0 ? ", " + numInDoubt() + " could not be judged" : "");
    }

    /** Returns the laws that any scenario was judged by, with their statements: those of the kit first. */
    public Map<String, String> laws() {
        var statements = new LinkedHashMap<String, String>();
        Stream.of(Laws.names(), ScalingLaws.names()).flatMap(List::stream).forEach(name -> statements.put(name, ""));
        scenarios.stream()
                .flatMap(scenario -> scenario.verdicts().stream())
                .forEach(verdict -> statements.put(verdict.law(), verdict.statement()));
        statements.values().removeIf(String::isEmpty);
        return statements;
    }
}
