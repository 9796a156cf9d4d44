package understudy.chaos.proxy;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import understudy.chaos.proxy.ReplicaFault.Kind;
import understudy.json.Jackson;

/** What faults make of the text that answers a probe. */
final class ProbeText {
    static final String ADAPTER = "chaos-adapter";

    private ProbeText() {}

    /** Returns how the answer of a path is written anew; null if it is passed on as it is. */
    static @Nullable UnaryOperator<String> rewriteOf(String path, Interposer replica) {
        return switch (path) {
            case "/metrics" -> text -> metrics(text, replica);
            case "/v1/models" -> replica.fault(Kind.NO_ADAPTER).isPresent() ? ProbeText::withoutAdapter : null;
            default -> null;
        };
    }

    private static String withoutAdapter(String models) {
        try {
            var root = Jackson.mapper().readTree(models);
            if (root.path("data") instanceof ArrayNode list) {
                list.removeIf(model -> model.path("id").asText().equals(ADAPTER));
            }
            return root.toString();
        } catch (JacksonException e) {
            return models;
        }
    }

    private static String metrics(String text, Interposer replica) {
        String changed = text;
        var stale = replica.metricsAtBegin(Kind.STALE_METRICS, text);
        if (stale.isPresent()) {
            changed = stale.get();
        }
        var restarted = replica.metricsAtBegin(Kind.RESTARTED_COUNTERS, text);
        if (restarted.isPresent()) {
            changed = MetricsText.restarted(changed, restarted.get());
        }
        var vanished = replica.fault(Kind.VANISHED_SERIES);
        if (vanished.isPresent()) {
            changed = MetricsText.without(changed, vanished.get().series().keySet());
        }
        var figures = replica.fault(Kind.FALSE_METRICS);
        return figures.isPresent() ? MetricsText.with(changed, figures.get().series()) : changed;
    }
}
