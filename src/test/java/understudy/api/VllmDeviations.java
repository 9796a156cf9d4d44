package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import understudy.api.OpenAiShapes.Violation;

/** Where real vLLM is not what OpenAI describes, and neither are we: the only violations that are not mistakes. */
final class VllmDeviations {
    private final Set<Violation> deviations = new LinkedHashSet<>();
    private final Set<Violation> extraKeys = new HashSet<>();

    VllmDeviations() {
        var lists = OpenAiShapes.read("vllm-deviations.json");
        lists.get("deviations").forEach(this::addDeviations);
        lists.get("extraKeys")
                .properties()
                .forEach(entry -> entry.getValue().forEach(key -> addExtraKey(entry.getKey(), key.asText())));
    }

    private void addDeviations(JsonNode entry) {
        for (var shape : entry.get("in")) {
            for (var at : entry.get("at")) {
                deviations.add(new Violation(
                        shape.asText(), at.asText(), entry.get("problem").asText()));
            }
        }
    }

    private void addExtraKey(String shape, String at) {
        extraKeys.add(new Violation(shape, at, "is extra"));
    }

    boolean isKnown(Violation violation) {
        return deviations.contains(violation) || extraKeys.contains(violation) || isExtraOfResponse(violation);
    }

    /** Events that carry a response carry its extra keys. */
    private boolean isExtraOfResponse(Violation violation) {
        return violation.shape().startsWith("response.")
                && violation.at().startsWith("/response/")
                && extraKeys.contains(
                        new Violation("response", violation.at().substring("/response".length()), violation.problem()));
    }

    /** Returns the deviations that are listed, but not among those that were seen. */
    Set<Violation> without(Collection<Violation> seen) {
        var stale = new LinkedHashSet<>(deviations);
        stale.removeAll(seen);
        return stale;
    }
}
