package understudy.chaos.autoscaler.plane;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalInt;
import understudy.json.Jackson;

/**
 * The scale subresource of one Deployment, as the API server of Kubernetes answers for it ({@code autoscaling/v1}). Each
 * change of the specification or of the status makes a new version. Thread-safe.
 */
public final class ScaleResource {
    private static final String NAMESPACE = "default";
    private static final String NAME = "replicas";

    /** Path of the Deployment. */
    static final String DEPLOYMENT = "/apis/apps/v1/namespaces/" + NAMESPACE + "/deployments/" + NAME;

    /** Path of the subresource. */
    static final String PATH = DEPLOYMENT + "/scale";

    private static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int CONFLICT = 409;
    private static final int UNSUPPORTED = 415;
    private static final int UNPROCESSABLE = 422;

    private int wanted;
    private int ready;
    private int present;
    private long version = 1;

    ScaleResource(int wanted) {
        this.wanted = wanted;
    }

    /**
     * An answer.
     *
     * @param replicas {@code spec.replicas} that the request asked for, if it did
     */
    record Answer(int status, String body, OptionalInt replicas) {}

    /** Returns {@code spec.replicas}. */
    synchronized int wanted() {
        return wanted;
    }

    /** Sets the status: replicas that take requests, and all that have not been told to go. */
    synchronized void setStatus(int nowReady, int nowPresent) {
        if (nowReady != ready || nowPresent != present) {
            ready = nowReady;
            present = nowPresent;
            version++;
        }
    }

    /** Somebody else writes, something that is of no matter here. */
    synchronized void touch() {
        version++;
    }

    /** Returns whether the body of a write names a version. */
    static boolean namesVersion(String body) {
        return !versionOf(read(body)).isEmpty();
    }

    /** Returns {@code spec.replicas} that the body of a write asks for, if it does. */
    static OptionalInt asked(String body) {
        var replicas = read(body).path("spec").path("replicas");
        return replicas.canConvertToInt() ? OptionalInt.of(replicas.intValue()) : OptionalInt.empty();
    }

    /** Answers a request of the Deployment itself, which may only be read. */
    synchronized Answer deployment(String method) {
        if (!method.equals("GET")) {
            return failure(METHOD_NOT_ALLOWED, "MethodNotAllowed", method + " is not supported here; write to scale");
        }
        var root = object("apps/v1", "Deployment");
        root.putObject("spec").put("replicas", wanted);
        root.putObject("status")
                .put("replicas", present)
                .put("readyReplicas", ready)
                .put("availableReplicas", ready)
                .put("unavailableReplicas", present - ready);
        return new Answer(OK, root.toString(), OptionalInt.empty());
    }

    /** Answers a request of the scale subresource. */
    synchronized Answer scale(String method, String contentType, String body) {
        return switch (method) {
            case "GET" -> new Answer(OK, scale(), OptionalInt.empty());
            case "PUT" -> write(body, true);
            case "PATCH" ->
                contentType.contains("merge-patch+json")
                        ? write(body, false)
                        : failure(
                                UNSUPPORTED,
                                "UnsupportedMediaType",
                                "use application/merge-patch+json or application/strategic-merge-patch+json");
            default -> failure(METHOD_NOT_ALLOWED, "MethodNotAllowed", method + " is not supported");
        };
    }

    private Answer write(String body, boolean isWhole) {
        var root = read(body);
        if (!root.isObject()) {
            return failure(BAD_REQUEST, "BadRequest", "the body is not a JSON object");
        }
        String named = versionOf(root);
        var replicas = root.path("spec").path("replicas");
        boolean isMissing = replicas.isMissingNode() || replicas.isNull();
        if (!isMissing && !(replicas.canConvertToInt() && replicas.isIntegralNumber())) {
            return failure(BAD_REQUEST, "BadRequest", "spec.replicas is not a whole number");
        }
        // What a PUT leaves out is 0, and what a patch leaves out stays.
        int asked = isMissing ? (isWhole ? 0 : wanted) : replicas.intValue();
        if (!named.isEmpty() && !named.equals(String.valueOf(version))) {
            return conflict(OptionalInt.of(asked));
        }
        if (asked < 0) {
            return failure(UNPROCESSABLE, "Invalid", "spec.replicas must be greater than or equal to 0");
        }
        if (asked != wanted) {
            wanted = asked;
            version++;
        }
        return new Answer(OK, scale(), OptionalInt.of(asked));
    }

    private static Answer conflict(OptionalInt asked) {
        String message = "Operation cannot be fulfilled on deployments.apps \"" + NAME
                + "\": the object has been modified; please apply your changes to the latest version and try again";
        return new Answer(CONFLICT, status(CONFLICT, "Conflict", message), asked);
    }

    /** Returns an answer that says that a request has failed. */
    static Answer failure(int code, String reason, String message) {
        return new Answer(code, status(code, reason, message), OptionalInt.empty());
    }

    private static String status(int code, String reason, String message) {
        return Jackson.mapper()
                .createObjectNode()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("status", "Failure")
                .put("message", message)
                .put("reason", reason)
                .put("code", code)
                .toString();
    }

    private String scale() {
        var root = object("autoscaling/v1", "Scale");
        root.putObject("spec").put("replicas", wanted);
        root.putObject("status").put("replicas", present).put("selector", "app=" + NAME);
        return root.toString();
    }

    private ObjectNode object(String apiVersion, String kind) {
        var root = Jackson.mapper().createObjectNode().put("kind", kind).put("apiVersion", apiVersion);
        root.putObject("metadata")
                .put("name", NAME)
                .put("namespace", NAMESPACE)
                .put("uid", "00000000-0000-4000-8000-000000000001")
                .put("resourceVersion", String.valueOf(version))
                .put("creationTimestamp", "2026-01-01T00:00:00Z");
        return root;
    }

    private static String versionOf(JsonNode root) {
        return root.path("metadata").path("resourceVersion").asText("");
    }

    private static JsonNode read(String body) {
        try {
            return Jackson.mapper().readTree(body);
        } catch (JsonProcessingException e) {
            return Jackson.mapper().missingNode();
        }
    }
}
