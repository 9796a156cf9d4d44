package understudy.api.http;

import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.zip.ZipException;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.model.EntityStreamException;
import org.apache.pekko.http.scaladsl.model.IllegalRequestException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.host.Reply;

/** Errors of failed requests. */
public final class HttpFailures {
    private static final Logger LOG = LoggerFactory.getLogger(HttpFailures.class);

    private static final Map<Integer, String> PHRASES = Map.of(
            404, "Not Found",
            405, "Method Not Allowed",
            408, "Request Timeout",
            413, "Request Entity Too Large",
            415, "Unsupported Media Type");

    private HttpFailures() {}

    /** Returns the answer in the words of vLLM to a request that has ended with an exception. */
    public static HttpResponse response(Throwable thrown) {
        var error = error(thrown);
        return HttpBodies.json(error.status(), error.body());
    }

    /** Returns the error that a request has ended with. */
    public static ApiException error(Throwable thrown) {
        Throwable cause = (thrown instanceof CompletionException || thrown instanceof ExecutionException)
                        && thrown.getCause() != null
                ? thrown.getCause()
                : thrown;
        var error = ApiException.of(cause);
        if (error != null) {
            return error;
        }
        if (cause instanceof Reply.NoAnswerException) {
            return new ApiException(503, "ServiceUnavailable", String.valueOf(cause.getMessage()), null);
        }
        if (cause instanceof TimeoutException) {
            return plain(408);
        }
        if (cause instanceof IllegalRequestException) {
            // The library says what is wrong, such as that a body is not gzip.
            return new ApiException(400, "Bad Request", String.valueOf(cause.getMessage()), null);
        }
        boolean isTheClients = cause instanceof EntityStreamException || cause instanceof ZipException;
        if (isTheClients) {
            return plain(400);
        }
        LOG.error("a request failed", cause);
        return plain(500);
    }

    /** Errors that the HTTP library has answered in its own words get those of a dialect. */
    public static HttpResponse inOurWords(HttpResponse response, Dialect dialect, String path) {
        int status = response.status().intValue();
        boolean isOurs = status < 400
                || response.entity().getContentType().mediaType().subType().equals("json");
        if (isOurs) {
            return response;
        }
        return dialect.answer(plain(status), path).addHeaders(response.getHeaders());
    }

    private static ApiException plain(int status) {
        String phrase = PHRASES.getOrDefault(status, status < 500 ? "Bad Request" : "Internal Server Error");
        return ApiException.plain(status, phrase);
    }
}
