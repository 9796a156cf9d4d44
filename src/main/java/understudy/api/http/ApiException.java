package understudy.api.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.jsonsample.RefusedSchemaException;

/** A request that is answered with an error, in the words of vLLM ({@code vllm/entrypoints/openai}). */
public final class ApiException extends RuntimeException {
    private static final Map<Integer, String> TYPES = Map.of(
            401, "AuthenticationError",
            404, "NotFoundError",
            408, "RequestTimeout",
            422, "UnprocessableEntityError",
            429, "RateLimitError",
            502, "BadGateway",
            503, "ServiceUnavailable",
            504, "GatewayTimeout");

    private final int status;
    private final String type;
    private final @Nullable String param;

    /**
     * Creates an error.
     *
     * @param status HTTP status
     * @param type vLLM's name for this kind of error
     * @param param the field that is to blame, or null
     */
    public ApiException(int status, String type, String message, @Nullable String param) {
        super(message, null, false, false);
        this.status = status;
        this.type = type;
        this.param = param;
    }

    /** Returns the error that a failure stands for, or null if the failure is none of the caller's. */
    public static @Nullable ApiException of(Throwable failure) {
        if (failure instanceof RefusedSchemaException refused) {
            return badRequest(refused.message(), refused.path());
        }
        return failure instanceof ApiException error ? error : null;
    }

    /** A value that makes no sense. */
    public static ApiException badRequest(String message, @Nullable String param) {
        return new ApiException(400, "BadRequestError", message, param);
    }

    /** A field of the wrong kind, or a missing one; {@code param} is its path, such as {@code body.prompt}. */
    public static ApiException invalid(String problem, String param) {
        return new ApiException(400, "Bad Request", "1 validation error(s): " + param + ": " + problem, param);
    }

    /** An error of a status from 400 on, with the type of the like. */
    public static ApiException ofStatus(int status, String message) {
        String type = TYPES.getOrDefault(status, status < 500 ? "BadRequestError" : "InternalServerError");
        return new ApiException(status, type, message, null);
    }

    /** A plain HTTP error without anything of its own to say. */
    public static ApiException plain(int status, String phrase) {
        return new ApiException(status, phrase, phrase, null);
    }

    /** A server that ends takes nothing new, and does not go on for ever with what it has. */
    public static ApiException shuttingDown() {
        return new ApiException(503, "ServiceUnavailable", "The server is shutting down.", null);
    }

    /** An emulation that has failed serves nothing; vLLM says the same of an engine that is dead. */
    public static ApiException failed() {
        return new ApiException(500, "InternalServerError", "The emulation has failed; see the server's log.", null);
    }

    /** Returns the message of the answer. */
    public String message() {
        return String.valueOf(getMessage());
    }

    public int status() {
        return status;
    }

    /** Returns vLLM's name for this kind of error. */
    public String type() {
        return type;
    }

    /** Returns the body of the answer. */
    public ObjectNode body() {
        var body = Json.object();
        body.putObject("error")
                .put("message", message())
                .put("type", type)
                .put("param", param)
                .put("code", status);
        return body;
    }
}
