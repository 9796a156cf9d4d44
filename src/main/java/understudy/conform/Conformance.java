package understudy.conform;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Agreement of a replayed run with the recorded one.
 *
 * @param numSteps recorded steps
 * @param numIdentical how many of them were decided in the same way
 * @param difference first difference, or empty if there is none
 */
public record Conformance(int numSteps, int numIdentical, Optional<String> difference) {

    public static Conformance of(RecordedRun recorded, ReplayedRun replayed) {
        return recorded.kvEvents() == null
                ? ofDecisions(recorded, replayed)
                : ofKvEvents(recorded.kvEvents(), replayed.kvEvents());
    }

    private static Conformance ofKvEvents(List<List<Object>> recorded, List<List<Object>> replayed) {
        int numIdentical = 0;
        Optional<String> first = Optional.empty();
        for (int step = 0; step < recorded.size(); step++) {
            var expected = Map.of("events", recorded.get(step));
            var difference = difference("step " + step + ", ", expected, Map.of("events", replayed.get(step)));
            numIdentical += difference.isEmpty() ? 1 : 0;
            first = first.isEmpty() ? difference : first;
        }
        return new Conformance(recorded.size(), numIdentical, first);
    }

    private static Conformance ofDecisions(RecordedRun recorded, ReplayedRun replayed) {
        int numIdentical = 0;
        Optional<String> first = Optional.empty();
        for (int step = 0; step < recorded.steps().size(); step++) {
            var actual = replayed.steps().get(step);
            var whole = recorded.steps().get(step);
            var expected = actual.updated().isEmpty() ? whole.withoutUpdate() : whole;
            var difference = difference("step " + step + ", ", expected.fields(), actual.fields());
            numIdentical += difference.isEmpty() ? 1 : 0;
            first = first.isEmpty() ? difference : first;
        }
        if (first.isEmpty()) {
            first = difference(
                    "end, ",
                    end(Objects.requireNonNull(recorded.end()), 0),
                    end(replayed.end(), replayed.numUnfinished()));
        }
        return new Conformance(recorded.steps().size(), numIdentical, first);
    }

    public boolean isIdentical() {
        return difference.isEmpty();
    }

    private static Map<String, Object> end(RecordedRun.End end, long numUnfinished) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("unfinished", numUnfinished);
        fields.put("free_order", end.freeOrder());
        fields.put("preemptions", end.numPreemptions());
        fields.put("queries", end.queries());
        fields.put("hits", end.hits());
        fields.put("preempted_queries", end.preemptedQueries());
        fields.put("preempted_hits", end.preemptedHits());
        fields.put("external_queries", end.externalQueries());
        fields.put("external_hits", end.externalHits());
        fields.put("external_preempted_queries", end.externalPreemptedQueries());
        fields.put("external_preempted_hits", end.externalPreemptedHits());
        fields.put("drafts", end.drafts());
        return fields;
    }

    private static Optional<String> difference(String place, Map<String, ?> expected, Map<String, ?> actual) {
        for (var field : expected.entrySet()) {
            Object wanted = field.getValue();
            Object got = actual.get(field.getKey());
            if (!Objects.equals(wanted, got)) {
                return wanted instanceof Map<?, ?> wantedMap && got instanceof Map<?, ?> gotMap
                        ? Optional.of(place + entryDifference(field.getKey(), wantedMap, gotMap))
                        : Optional.of(place + field.getKey() + ": expected " + wanted + ", actual " + got);
            }
        }
        return Optional.empty();
    }

    /** Names the first entry that differs, since whole tables would not fit a line. */
    private static String entryDifference(String field, Map<?, ?> expected, Map<?, ?> actual) {
        for (var entry : expected.entrySet()) {
            Object got = actual.get(entry.getKey());
            if (!entry.getValue().equals(got)) {
                return field + "." + entry.getKey() + ": expected " + entry.getValue() + ", actual " + got;
            }
        }
        return field + ": expected " + expected.keySet() + ", actual " + actual.keySet();
    }
}
