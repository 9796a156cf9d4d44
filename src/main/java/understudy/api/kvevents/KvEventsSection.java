package understudy.api.kvevents;

import java.util.Optional;
import understudy.settings.Section;

/** The section {@code kv-cache.kv-events}. */
public final class KvEventsSection {
    private enum Publisher {
        ZMQ,
        NULL
    }

    private KvEventsSection() {}

    /** Returns how KV events are published by so many replicas, or empty if they are not. */
    public static Optional<KvEventSettings> read(Section kvEvents, int numReplicas) {
        var settings = new KvEventSettings(
                endpoint(kvEvents, "endpoint", numReplicas),
                endpoint(kvEvents, "replay-endpoint", numReplicas),
                kvEvents.wholeNumber("buffer-steps", 1, Integer.MAX_VALUE),
                kvEvents.wholeNumber("hwm", 1, Integer.MAX_VALUE),
                kvEvents.wholeNumber("max-queue-size", 1, Integer.MAX_VALUE),
                topic(kvEvents),
                kvEvents.choice("format", KvEventSettings.Format.class));
        return isEnabled(kvEvents) ? Optional.of(settings) : Optional.empty();
    }

    public static boolean isEnabled(Section kvEvents) {
        boolean isPublished = kvEvents.choice("publisher", Publisher.class) == Publisher.ZMQ;
        return kvEvents.bool("enable-kv-cache-events") && isPublished;
    }

    private static String topic(Section kvEvents) {
        String topic = kvEvents.text("topic");
        if (!KvEventSettings.isTopic(topic)) {
            throw kvEvents.unusable("topic", "where only {replica}, {port}, {host}, {ip} and {model} may be in braces");
        }
        return topic;
    }

    private static String endpoint(Section kvEvents, String key, int numReplicas) {
        String endpoint = kvEvents.text(key);
        if (!endpoint.isEmpty()) {
            try {
                KvEventSettings.forReplica(endpoint, numReplicas - 1);
            } catch (IllegalArgumentException e) {
                throw kvEvents.unusable(key, "but " + e.getMessage());
            }
        }
        return endpoint;
    }
}
