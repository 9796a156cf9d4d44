package understudy.app.flags;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import understudy.json.Jackson;
import understudy.settings.ScenarioException;

/** Flags whose value is a JSON object, whole or key by key. */
public final class FlagJson {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final String EVENTS = "kv-cache.kv-events.";
    private static final List<String> EVENT_KEYS = List.of(
            "enable_kv_cache_events",
            "publisher",
            "endpoint",
            "replay_endpoint",
            "buffer_steps",
            "hwm",
            "max_queue_size",
            "topic");

    private FlagJson() {}

    /**
     * Returns the value of a flag; empty if it is not given.
     *
     * @throws ScenarioException if it is no object
     */
    public static ObjectNode object(FlagArguments arguments, String flag) {
        var object = arguments.given(flag).map(text -> parse(flag, text)).orElseGet(JSON::createObjectNode);
        String prefix = flag + ".";
        arguments.values().forEach((key, values) -> {
            if (key.startsWith(prefix) && !values.isEmpty()) {
                object.put(key.substring(prefix.length()), values.get(values.size() - 1));
            }
        });
        return object;
    }

    /**
     * Returns an object.
     *
     * @param flag named in the error
     * @throws ScenarioException if the text is none
     */
    public static ObjectNode parse(String flag, String text) {
        try {
            if (JSON.readTree(text) instanceof ObjectNode object) {
                return object;
            }
            throw new ScenarioException("--" + flag + " " + text + ": must be a JSON object");
        } catch (JacksonException e) {
            throw new ScenarioException("--" + flag + " " + text + ": must be a JSON object; "
                    + e.getOriginalMessage().lines().findFirst().orElse(""));
        }
    }

    /** Puts the settings of {@code --kv-events-config}, which vLLM and SGLang have alike. */
    public static void putKvEvents(ObjectNode events, Map<String, String> settings) {
        for (String key : EVENT_KEYS) {
            var value = events.get(key);
            if (value != null && !value.isNull()) {
                settings.put(EVENTS + key.replace('_', '-'), value.asText());
            }
        }
    }

    /** Returns the value of {@code --kv-events-config} for settings; nothing if they have no events. */
    public static Optional<ObjectNode> kvEvents(Map<String, String> settings) {
        if (!"true".equals(settings.get(EVENTS + "enable-kv-cache-events"))) {
            return Optional.empty();
        }
        var events = JSON.createObjectNode();
        for (String key : EVENT_KEYS) {
            String value = settings.get(EVENTS + key.replace('_', '-'));
            if (value != null && value.matches("true|\\d{1,9}")) {
                events.set(
                        key,
                        value.equals("true")
                                ? JSON.getNodeFactory().booleanNode(true)
                                : JSON.getNodeFactory().numberNode(Integer.parseInt(value)));
            } else if (value != null) {
                events.put(key, value);
            }
        }
        return Optional.of(events);
    }
}
