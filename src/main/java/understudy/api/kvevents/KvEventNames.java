package understudy.api.kvevents;

import java.util.Objects;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names for the topic of KV events, so that a router can tell which server they come from; llm-d asks for {@code
 * kv@{ip}:{port}@{model}}.
 *
 * @param host address that the server listens at
 * @param ip address of the pod, or the same
 * @param port the server's port through which a replica, by index, is reached
 * @param model name under which the model is served
 */
public record KvEventNames(String host, String ip, IntUnaryOperator port, String model) {
    static final Pattern NAME = Pattern.compile("\\{(replica|port|host|ip|model)}");

    /**
     * Returns the names of a server; the pod's address is in the environment if Kubernetes was told to put it there.
     */
    public static KvEventNames of(String host, String model, IntUnaryOperator port) {
        String podIp = Objects.requireNonNullElse(System.getenv("POD_IP"), host);
        return new KvEventNames(host, podIp, port, model);
    }

    /** Returns a topic with names in it. */
    String in(String topic, int replica) {
        return NAME.matcher(topic).replaceAll(match -> Matcher.quoteReplacement(name(match.group(1), replica)));
    }

    private String name(String key, int replica) {
        return switch (key) {
            case "replica" -> String.valueOf(replica);
            case "port" -> String.valueOf(port.applyAsInt(replica));
            case "host" -> host;
            case "ip" -> ip;
            default -> model;
        };
    }
}
