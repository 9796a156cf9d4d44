package understudy.api.sglang;

import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import understudy.api.http.ApiException;
import understudy.api.http.BearerToken;
import understudy.api.http.Dialect;
import understudy.api.http.ForeignPages;

/**
 * Dialect of SGLang: bodies of errors by path ({@code http_server.py}), and keys for all but probes and metrics ({@code
 * utils/auth.py}, {@code decide_request_auth}). The paths of the emulation itself keep their own rules.
 *
 * @param apiKey the key of clients, or empty
 * @param adminApiKey the key to what changes an engine, or empty
 */
public record SglangDialect(String apiKey, String adminApiKey) implements Dialect {
    /** First segments of SGLang's endpoints of the level {@code ADMIN_OPTIONAL}. */
    private static final Set<String> OF_ADMIN = Set.of(
            "flush_cache",
            "abort_request",
            "pause_generation",
            "continue_generation",
            "load_lora_adapter",
            "unload_lora_adapter",
            "slow_down");

    /** First segments of the live page, and of the administration, which has a token of its own. */
    private static final Set<String> OF_EMULATION = Set.of("", "page", "live", "admin");

    @Override
    public HttpResponse answer(ApiException failure, String path) {
        return SglangErrors.response(failure, path);
    }

    @Override
    public OptionalInt refusal(HttpRequest request) {
        String first = ForeignPages.firstSegment(request);
        boolean isPublic =
                Stream.of("health", "ready", "metrics").anyMatch(first::startsWith) || OF_EMULATION.contains(first);
        if (isPublic) {
            return OptionalInt.empty();
        }
        String key = OF_ADMIN.contains(first) && !adminApiKey.isEmpty() ? adminApiKey : apiKey;
        return key.isEmpty() || isSent(request, key) ? OptionalInt.empty() : OptionalInt.of(401);
    }

    /** The scheme may be written in any case, and Anthropic's header counts, too. */
    private static boolean isSent(HttpRequest request, String key) {
        String bearer = "bearer ";
        boolean isBearer = request.getHeader("Authorization")
                .map(header -> header.value())
                .filter(value -> value.regionMatches(true, 0, bearer, 0, bearer.length()))
                .filter(value -> BearerToken.isEqual(value.substring(bearer.length()), key))
                .isPresent();
        return isBearer
                || request.getHeader("x-api-key")
                        .filter(header -> BearerToken.isEqual(header.value(), key))
                        .isPresent();
    }
}
