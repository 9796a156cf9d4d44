package understudy.api.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;

/**
 * Names of a pod, on each of its responses: {@code x-inference-pod}, {@code x-inference-namespace} and, with one of
 * these, {@code x-inference-port}, by which tests of gateways see who has answered (llm-d-inference-sim).
 *
 * @param pod its name, or empty
 * @param namespace that of its namespace, or empty
 */
public record PodNames(String pod, String namespace) {
    /** No pod. */
    public static final PodNames NONE = new PodNames("", "");

    /** Returns the environment's {@code POD_NAME} and {@code POD_NAMESPACE}, as far as Kubernetes was told to set them. */
    public static PodNames ofEnvironment() {
        return new PodNames(variable("POD_NAME"), variable("POD_NAMESPACE"));
    }

    private static String variable(String name) {
        return Objects.requireNonNullElse(System.getenv(name), "");
    }

    /** Returns the headers of a response of the server at a port; none without a name. */
    public List<HttpHeader> headers(int port) {
        var headers = new ArrayList<HttpHeader>();
        if (!pod.isEmpty()) {
            headers.add(RawHeader.create("x-inference-pod", pod));
        }
        if (!namespace.isEmpty()) {
            headers.add(RawHeader.create("x-inference-namespace", namespace));
        }
        if (!headers.isEmpty()) {
            headers.add(RawHeader.create("x-inference-port", String.valueOf(port)));
        }
        return List.copyOf(headers);
    }
}
