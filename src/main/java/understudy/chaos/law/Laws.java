package understudy.chaos.law;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.chaos.evidence.Evidence;

/** The laws by name. */
public final class Laws {
    private static final Map<String, Law<Evidence>> BY_NAME = Stream.of(
                    AnswerLaws.ALL, ReplicaLaws.ALL, ConnectionLaws.ALL)
            .flatMap(List::stream)
            .collect(Collectors.toMap(Law::name, Function.identity(), (one, other) -> one, LinkedHashMap::new));

    private Laws() {}

    /** Returns all laws, in the order of the manual. */
    public static List<Law<Evidence>> all() {
        return List.copyOf(BY_NAME.values());
    }

    /** Returns the names of the laws, in the order of the manual. */
    public static List<String> names() {
        return List.copyOf(BY_NAME.keySet());
    }

    /**
     * Returns a law.
     *
     * @throws IllegalArgumentException if there is none of this name
     */
    public static Law<Evidence> named(String name) {
        var law = BY_NAME.get(name);
        if (law == null) {
            throw new IllegalArgumentException(
                    "law \"" + name + "\" does not exist, use one of " + String.join(", ", names()));
        }
        return law;
    }

    /** Returns a law that is judged by a function, and depends on time. */
    static Law<Evidence> law(String name, String statement, Function<Judgement, Judgement> judge) {
        return new Named(name, statement, true, judge);
    }

    /** Returns a law that is judged by a function, and that no machine breaks by being late. */
    static Law<Evidence> timeless(String name, String statement, Function<Judgement, Judgement> judge) {
        return new Named(name, statement, false, judge);
    }

    private record Named(String name, String statement, boolean dependsOnTime, Function<Judgement, Judgement> judge)
            implements Law<Evidence> {
        @Override
        public List<Breach> judge(Evidence evidence) {
            return judge.apply(new Judgement(name, evidence)).breaches();
        }
    }
}
