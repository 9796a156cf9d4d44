package understudy.app.vllm;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import understudy.app.flags.FlagArguments;

/** Flags about pictures, audio and video. */
record MediaFlags(FlagArguments arguments, JsonFlags json, Map<String, String> settings) {
    private static final String MULTIMODAL = "server.multimodal.";
    private static final List<String> KINDS = List.of("image", "audio", "video");

    /** Puts the settings, and the model's own name, which says more than others under which it is served. */
    void put(String model) {
        if (!model.equals(settings.get("server.served-model-name"))) {
            settings.put(MULTIMODAL + "model", model);
        }
        var limits = json.object("limit-mm-per-prompt");
        boolean takesNone = arguments.isOn("language-model-only");
        for (String kind : KINDS) {
            // A limit may come with the sizes that vLLM measures memory with.
            var limit = limits.path(kind).isObject() ? limits.path(kind).path("count") : limits.path(kind);
            if (takesNone) {
                settings.put(MULTIMODAL + "limit-mm-per-prompt." + kind, "0");
            } else if (!limit.isMissingNode() && !limit.isNull()) {
                settings.put(MULTIMODAL + "limit-mm-per-prompt." + kind, limit.asText());
            }
        }
        putPixels(json.object("mm-processor-kwargs"));
    }

    private void putPixels(ObjectNode processor) {
        putPixels(processor, "min_pixels", "shortest_edge", "min-pixels");
        putPixels(processor, "max_pixels", "longest_edge", "max-pixels");
    }

    /** Newer processors have both in an object, under names that say sides and mean pixels. */
    private void putPixels(ObjectNode processor, String name, String nameInSize, String setting) {
        var value = processor.path(processor.has(name) ? name : "size");
        var pixels = value.isObject() ? value.path(nameInSize) : value;
        if (pixels.isNumber() || pixels.isTextual()) {
            settings.put(MULTIMODAL + setting, pixels.asText());
        }
    }
}
