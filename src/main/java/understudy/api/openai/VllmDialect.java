package understudy.api.openai;

import java.util.OptionalInt;
import java.util.Set;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import understudy.api.http.ApiException;
import understudy.api.http.BearerToken;
import understudy.api.http.Dialect;
import understudy.api.http.ForeignPages;
import understudy.api.http.HttpBodies;

/**
 * Dialect of vLLM: one body for all errors, and a key for {@code /v1}.
 *
 * @param apiKey the key, or empty
 * @param others paths beside {@code /v1} that need it
 */
public record VllmDialect(String apiKey, Set<String> others) implements Dialect {
    @Override
    public HttpResponse answer(ApiException failure, String path) {
        return HttpBodies.json(failure.status(), failure.body());
    }

    @Override
    public OptionalInt refusal(HttpRequest request) {
        String first = ForeignPages.firstSegment(request);
        boolean needsKey = first.equals("v1") || others.contains("/" + first);
        return needsKey && !BearerToken.fits(request, apiKey) ? OptionalInt.of(401) : OptionalInt.empty();
    }
}
