package understudy.api.kvevents;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * Settings of the KV event publisher, under the names of vLLM's {@code --kv-events-config} ({@code
 * vllm/config/kv_events.py}).
 *
 * <p>The replicas of a cluster take the place of vLLM's data-parallel ranks: replica r has the port of the endpoint
 * plus r, and an {@code inproc} endpoint has the suffix {@code _dp<r>}.
 *
 * @param endpoint of the PUB socket of replica 0, such as {@code tcp://*:5557}; it binds if it has a {@code *}, is at
 *     the IPv6 address {@code ::}, or is {@code ipc} or {@code inproc}, else it connects
 * @param replayEndpoint of the ROUTER socket of replica 0 that answers for missed batches; empty is none
 * @param bufferSteps batches kept for that, per replica, at least 1
 * @param hwm batches that the PUB socket holds for a slow subscriber before it drops some, at least 1
 * @param maxQueueSize batches that may wait to be published, of all replicas, at least 1
 * @param topic first frame of each message, in which {@code {replica}}, {@code {port}}, {@code {host}}, {@code {ip}}
 *     and {@code {model}} stand for what {@link KvEventNames} knows
 * @param format how events are written
 */
public record KvEventSettings(
        String endpoint,
        String replayEndpoint,
        int bufferSteps,
        int hwm,
        int maxQueueSize,
        String topic,
        Format format) {
    private static final Pattern PORT = Pattern.compile("(tcp://.*:)(\\d+)");
    private static final Pattern HOST = Pattern.compile("tcp://(.*):[^:]*");
    private static final Set<String> ALL_OF_IPV6 = Set.of("::", "[::]");
    private static final int MAX_PORT = 65_535;

    /** MessagePack layout of an event. */
    public enum Format {
        /** A map whose first key is the type (vLLM since June 2026). */
        MAP,
        /** An array whose first element is the type (vLLM before that, and SGLang). */
        ARRAY
    }

    /** Checks the numbers. */
    public KvEventSettings {
        if (bufferSteps < 1 || hwm < 1 || maxQueueSize < 1) {
            throw new IllegalArgumentException(
                    "bufferSteps " + bufferSteps + ", hwm " + hwm + ", maxQueueSize " + maxQueueSize);
        }
    }

    /** Returns whether missed batches can be asked for. */
    public boolean hasReplay() {
        return !replayEndpoint.isEmpty();
    }

    /** Returns the endpoint of one replica; throws {@link IllegalArgumentException} if it has none. */
    public static String forReplica(String endpoint, int replicaIndex) {
        if (replicaIndex == 0 || endpoint.endsWith(":*")) {
            return endpoint;
        }
        if (endpoint.startsWith("inproc://")) {
            return endpoint + "_dp" + replicaIndex;
        }
        var matcher = PORT.matcher(endpoint);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(endpoint + " has no port to count up from for replica " + replicaIndex);
        }
        long port = Long.parseLong(matcher.group(2)) + replicaIndex;
        if (port > MAX_PORT) {
            throw new IllegalArgumentException(endpoint + " leaves no port for replica " + replicaIndex);
        }
        return matcher.group(1) + port;
    }

    static boolean binds(String endpoint) {
        return endpoint.contains("*")
                || ALL_OF_IPV6.contains(host(endpoint))
                || endpoint.startsWith("ipc://")
                || endpoint.startsWith("inproc://");
    }

    /** Returns whether an endpoint is an IPv6 address, which ZeroMQ has to be told. */
    static boolean isIpv6(String endpoint) {
        return host(endpoint).contains(":");
    }

    /** Returns the host of an endpoint; empty if it has none. */
    static String host(String endpoint) {
        var matcher = HOST.matcher(endpoint);
        return matcher.matches() ? matcher.group(1) : "";
    }

    /** Returns whether a topic has nothing in braces but the names that it may have. */
    public static boolean isTopic(String topic) {
        return KvEventNames.NAME.matcher(topic).replaceAll("").chars().noneMatch(c -> c == '{' || c == '}');
    }
}
