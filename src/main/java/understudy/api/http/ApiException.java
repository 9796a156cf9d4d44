package understudy.api.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
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

    /** Pydantic's names of what is wrong, by the first words about it; the more precise words come first. */
    private static final Map<String, String> KINDS = kinds();

    private static final Pattern DOT = Pattern.compile("\\.");
    private static final Pattern INDEX = Pattern.compile("\\d+");

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

    private static Map<String, String> kinds() {
        var kinds = new LinkedHashMap<String, String>();
        kinds.put("Field required", "missing");
        kinds.put("Input should be a valid string", "string_type");
        kinds.put("Input should be a valid integer", "int_parsing");
        kinds.put("Input should be a valid number", "float_parsing");
        kinds.put("Input should be a valid boolean", "bool_parsing");
        kinds.put("Input should be a valid list", "list_type");
        kinds.put("Input should be a valid dictionary or object", "model_attributes_type");
        kinds.put("Input should be a valid dictionary", "dict_type");
        kinds.put("Input should be greater than or equal to", "greater_than_equal");
        kinds.put("Input should be less than or equal to", "less_than_equal");
        kinds.put("Input should be '", "literal_error");
        kinds.put("JSON decode error", "json_invalid");
        return kinds;
    }

    /** A value that makes no sense. */
    public static ApiException badRequest(String message, @Nullable String param) {
        return new ApiException(400, "BadRequestError", message, param);
    }

    /** A parameter that cannot be, which the message names at its end (vLLM {@code VLLMValidationError}). */
    public static ApiException parameter(String message, String param) {
        return badRequest(message + " (parameter=" + param + ")", param);
    }

    /** The same, with the value. */
    public static ApiException parameter(String message, String param, Object value) {
        return badRequest(message + " (parameter=" + param + ", value=" + value + ")", param);
    }

    /**
     * A field of the wrong kind, or a missing one; {@code param} is its path, such as {@code body.prompt}. The words are
     * those of Pydantic, but for its {@code input}, which repeats what was sent.
     */
    public static ApiException invalid(String problem, String param) {
        String message = "1 validation error:\n  {'type': '" + kind(problem) + "', 'loc': (" + place(param)
                + "), 'msg': " + quoted(problem) + "}";
        return new ApiException(400, "Bad Request", message, param);
    }

    private static String kind(String problem) {
        return KINDS.entrySet().stream()
                .filter(kind -> problem.startsWith(kind.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("value_error");
    }

    /** Returns a path as Python writes a tuple; what is a number is an index. */
    private static String place(String path) {
        var parts = DOT.splitAsStream(path)
                .map(part -> INDEX.matcher(part).matches() ? part : "'" + part + "'")
                .toList();
        return String.join(", ", parts) + (parts.size() == 1 ? "," : "");
    }

    /** Returns a text as Python's {@code repr} writes it. */
    private static String quoted(String text) {
        return text.contains("'") && !text.contains("\"") ? '"' + text + '"' : "'" + text.replace("'", "\\'") + "'";
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
