package understudy.app.vllm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import understudy.app.flags.FlagArguments;
import understudy.app.flags.FlagJson;
import understudy.engine.speculation.SpeculationMethod;
import understudy.settings.ScenarioException;

/** Flags whose value is a JSON object, whole or key by key. */
final class JsonFlags {
    private static final String SPECULATIVE = "engine.speculative.";
    private static final String ACCEPTANCE_LENGTH = SPECULATIVE + "synthetic-acceptance-length";
    private static final String GRAPH_MODE = "engine.cudagraph-mode";
    private static final String GRAPH_SIZES = "engine.cudagraph-capture-sizes";
    private static final String DEFAULT_NUM_DRAFTS = "3";
    private static final Map<String, String> SHORT_FORMS = Map.of(
            "spec-method", "method",
            "spec-model", "model",
            "spec-tokens", "num_speculative_tokens");

    /** Method that stands for most of the newer ones: a head on the hidden states of the model. */
    private static final String OTHER_METHOD = "eagle3";

    private static final Set<String> METHODS = Arrays.stream(SpeculationMethod.values())
            .map(method -> method.name().toLowerCase(Locale.ROOT).replace('_', '-'))
            .collect(Collectors.toUnmodifiableSet());

    private final FlagArguments arguments;
    private final Map<String, String> environment;
    private final Map<String, String> settings;
    private final List<String> warnings;

    JsonFlags(
            FlagArguments arguments,
            Map<String, String> environment,
            Map<String, String> settings,
            List<String> warnings) {
        this.arguments = arguments;
        this.environment = environment;
        this.settings = settings;
        this.warnings = warnings;
    }

    /** Puts the settings of all such flags. */
    void put() {
        FlagJson.putKvEvents(object("kv-events-config"), settings);
        putTransfer(object("kv-transfer-config"));
        putSpeculation(speculation());
        putGraphs(object("compilation-config"));
    }

    /** Flags of their own go over the same keys of the object, and eager execution over all. */
    private void putGraphs(ObjectNode compilation) {
        putIfGiven(compilation.path("cudagraph_mode"), GRAPH_MODE);
        putIfGiven(compilation.path("max_cudagraph_capture_size"), "engine.max-cudagraph-capture-size");
        var sizes = arguments.all("cudagraph-capture-sizes");
        if (!sizes.isEmpty()) {
            settings.put(GRAPH_SIZES, sizes.toString());
        } else if (compilation.path("cudagraph_capture_sizes").isArray()) {
            settings.put(
                    GRAPH_SIZES, compilation.path("cudagraph_capture_sizes").toString());
        }
        if (arguments.isOn("enforce-eager")) {
            settings.put(GRAPH_MODE, "none");
        }
    }

    private void putIfGiven(JsonNode value, String setting) {
        if (!value.isMissingNode() && !value.isNull()) {
            settings.putIfAbsent(
                    setting, value.asText().toLowerCase(Locale.ROOT).replace('_', '-'));
        }
    }

    private void putTransfer(ObjectNode transfer) {
        String connector = transfer.path("kv_connector").asText("");
        if (connector.equals("NixlConnector")) {
            settings.put("kv-cache.transfer.kv-connector", "nixl");
            putFailurePolicy(transfer.path("kv_load_failure_policy").asText(""));
            String port = environment.getOrDefault("VLLM_NIXL_SIDE_CHANNEL_PORT", "");
            if (!port.isEmpty()) {
                settings.put("server.side-channel-port", port);
            }
        } else if (!transfer.isEmpty()) {
            warnings.add("--kv-transfer-config has no effect here for kv_connector '" + connector
                    + "'; NixlConnector has, and --kv-offloading-size");
        }
    }

    private void putFailurePolicy(String policy) {
        if (policy.equals("fail") || policy.equals("recompute")) {
            settings.put("kv-cache.transfer.load-failure-policy", policy);
        }
    }

    /** Returns the speculation settings of the flag and its short forms. */
    private ObjectNode speculation() {
        var speculation = object("speculative-config");
        SHORT_FORMS.forEach((flag, key) ->
                arguments.last(flag).filter(value -> !value.isBlank()).ifPresent(value -> speculation.put(key, value)));
        return speculation;
    }

    private void putSpeculation(ObjectNode speculation) {
        if (speculation.isEmpty()) {
            return;
        }
        String given = method(speculation);
        boolean isKnown = METHODS.contains(given);
        String method = isKnown ? given : OTHER_METHOD;
        if (!isKnown) {
            warnings.add("--speculative-config: the method " + given + " is not known here, and counts as " + method);
        }
        String numDrafts = speculation.path("num_speculative_tokens").asText(DEFAULT_NUM_DRAFTS);
        settings.put(SPECULATIVE + "method", method);
        settings.put(SPECULATIVE + "num-speculative-tokens", numDrafts);
        if (method.equals("ngram") || method.equals("suffix")) {
            settings.put("engine.async-scheduling", "false");
        }
        if (environment.keySet().stream()
                .noneMatch(name -> name.startsWith("UNDERSTUDY_ENGINE_SPECULATIVE_SYNTHETIC"))) {
            settings.put(ACCEPTANCE_LENGTH, "1.5");
            warnings.add(
                    "--speculative-config: vLLM does not say how many drafts are accepted, which is assumed to be one"
                            + " in two steps; set UNDERSTUDY_ENGINE_SPECULATIVE_SYNTHETIC_ACCEPTANCE_LENGTH");
        }
    }

    /** A draft model without a method is what vLLM makes of it. */
    private static String method(ObjectNode speculation) {
        String method = speculation.path("method").asText("draft_model").toLowerCase(Locale.ROOT);
        return method.endsWith("mtp") ? "mtp" : method.replace('_', '-');
    }

    /** Returns the value of a flag; empty if it is not given. */
    ObjectNode object(String flag) {
        return FlagJson.object(arguments, flag);
    }

    /** Returns a LoRA adapter as {@code name=path}, which is also given as JSON. */
    static String adapter(String module) {
        if (!module.strip().startsWith("{")) {
            return module.strip();
        }
        var json = FlagJson.parse("lora-modules", module);
        JsonNode name = json.path("name");
        if (!name.isTextual()) {
            throw new ScenarioException("--lora-modules " + module + ": has no name");
        }
        return json.path("path").isTextual()
                ? name.asText() + "=" + json.path("path").asText()
                : name.asText();
    }
}
