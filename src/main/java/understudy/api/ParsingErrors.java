package understudy.api;

import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.ParsingErrorHandler;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.model.ErrorInfo;
import org.apache.pekko.http.scaladsl.model.StatusCode;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;

/** Error responses to input that is not HTTP or has too many headers, with a body like that of other errors. */
final class ParsingErrors extends ParsingErrorHandler {
    /** The one instance, under the name that the HTTP library looks for. */
    static final ParsingErrors MODULE$ = new ParsingErrors();

    private ParsingErrors() {}

    @Override
    public HttpResponse handle(StatusCode status, ErrorInfo error, LoggingAdapter log, ServerSettings settings) {
        // Illegal requests of strangers are no reason to fill a log.
        log.debug("Illegal request: {}", error.summary());
        var failure = new ApiException(status.intValue(), status.reason(), error.summary(), null);
        return HttpBodies.json(status.intValue(), failure.body());
    }
}
