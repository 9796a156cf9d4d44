package understudy.sweep;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import understudy.json.Jackson;

/**
 * Result of one run.
 *
 * @param name of its point
 * @param meetsSlo whether all classes of requests keep their service level; empty if there is none
 * @param isHopeless whether it was ended as soon as the service level could not be kept any more
 * @param figures the report as {@code run --json} has it, without what depends on the machine or on one replica, and what
 *     follows per GPU; nothing of a hopeless run
 */
public record PointResult(String name, Optional<Boolean> meetsSlo, boolean isHopeless, ObjectNode figures) {
    private static final ObjectMapper JSON = Jackson.mapper();

    private static final List<String> FIELDS = List.of("point", "slo_met", "stopped_early", "report");

    /** Returns whether a search may go on beyond this point. */
    boolean isGood() {
        return meetsSlo.orElse(false);
    }

    /** Returns the result as one line of JSON. */
    public String toJson() {
        var line = JSON.createObjectNode();
        line.put("point", name);
        line.put("slo_met", meetsSlo.orElse(null));
        line.put("stopped_early", isHopeless);
        line.set("report", figures);
        try {
            return JSON.writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Reads what {@link #toJson} writes.
     *
     * @throws JsonProcessingException if it is not JSON
     * @throws IllegalArgumentException if it is other JSON
     */
    public static PointResult fromJson(String text) throws JsonProcessingException {
        var line = JSON.readTree(text);
        if (!FIELDS.stream().allMatch(line::has)) {
            throw new IllegalArgumentException("not the result of a run");
        }
        var slo = line.get("slo_met");
        return new PointResult(
                line.get("point").asText(),
                slo.isNull() ? Optional.empty() : Optional.of(slo.asBoolean()),
                line.get("stopped_early").asBoolean(),
                (ObjectNode) line.get("report"));
    }
}
