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

/** Error responses for failed requests, in the words of vLLM. */
public final class HttpFailures {
    private static final Logger LOG = LoggerFactory.getLogger(HttpFailures.class);

    private static final Map<Integer, String> PHRASES = Map.of(
            404, "Not Found",
            405, "Method Not Allowed",
            408, "Request Timeout",
            413, "Request Entity Too Large",
            415, "Unsupported Media Type");

    private HttpFailures() {}

    /** Returns the answer to a request that has ended with an exception. */
    public static HttpResponse response(Throwable thrown) {
        Throwable cause = (thrown instanceof CompletionException || thrown instanceof ExecutionException)
                        && thrown.getCause() != null
                ? thrown.getCause()
                : thrown;
        var error = ApiException.of(cause);
        if (error != null) {
            return HttpBodies.json(error.status(), error.body());
        }
        if (cause instanceof Reply.NoAnswerException) {
            var failure = new ApiException(503, "ServiceUnavailable", String.valueOf(cause.getMessage()), null);
            return HttpBodies.json(failure.status(), failure.body());
        }
        if (cause instanceof TimeoutException) {
            return plain(408);
        }
        if (cause instanceof IllegalRequestException) {
            // The library says what is wrong, such as that a body is not gzip.
            return HttpBodies.json(
                    400, new ApiException(400, "Bad Request", String.valueOf(cause.getMessage()), null).body());
        }
        boolean isTheClients = cause instanceof EntityStreamException || cause instanceof ZipException;
        if (isTheClients) {
            return plain(400);
        }
        LOG.error("a request failed", cause);
        return plain(500);
    }

    /** Errors that the HTTP library has answered in its own words get ours. */
    public static HttpResponse inOurWords(HttpResponse response) {
        int status = response.status().intValue();
        boolean isOurs = status < 400
                || response.entity().getContentType().mediaType().subType().equals("json");
        if (isOurs) {
            return response;
        }
        return plain(status).addHeaders(response.getHeaders());
    }

    private static HttpResponse plain(int status) {
        String phrase = PHRASES.getOrDefault(status, status < 500 ? "Bad Request" : "Internal Server Error");
        return HttpBodies.json(status, ApiException.plain(status, phrase).body());
    }
}
