package understudy.api.http;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;

/** Refusal of requests from foreign web pages: {@link OwnPageGuard} applied to requests. */
public final class ForeignPages {
    private static final Pattern COMMA = Pattern.compile(",");

    private final OwnPageGuard guard;

    public ForeignPages(HttpSettings settings) {
        guard = new OwnPageGuard(settings.tls() != null, !settings.adminToken().isEmpty(), settings.allowedHosts());
    }

    /** Returns whether a browser asks in advance whether a page may send a request. */
    public static boolean isPreflight(HttpRequest request) {
        return request.method().equals(HttpMethods.OPTIONS)
                && request.getHeader("Access-Control-Request-Method").isPresent();
    }

    /** Returns whether the path of a request is one that they are kept from. */
    public static boolean areKeptFrom(HttpRequest request) {
        var segments = request.getUri().pathSegments().iterator();
        String first = segments.hasNext() ? segments.next() : "";
        return OwnPageGuard.guards(first)
                || (first.equals("v1") && segments.hasNext() && OwnPageGuard.guardsCall(segments.next()));
    }

    /**
     * Returns the first segment of a path that is not empty, or an empty one. It is decoded, as it is for the routes:
     * {@code /%61dmin} is {@code admin}.
     */
    public static String firstSegment(HttpRequest request) {
        var segments = request.getUri().pathSegments().iterator();
        return segments.hasNext() ? segments.next() : "";
    }

    /** Returns why a request is not let in because of where it comes from, or empty if it is. */
    public Optional<HttpResponse> refusal(HttpRequest request) {
        return why(request)
                .map(message -> HttpBodies.json(403, new ApiException(403, "ForbiddenError", message, null).body()));
    }

    private Optional<String> why(HttpRequest request) {
        if (areKeptFrom(request)) {
            // A browser asks in advance for other pages than the own one only.
            return isPreflight(request) ? Optional.of(OwnPageGuard.FOREIGN_PAGE) : guard.refusal(sender(request));
        }
        boolean isFault = headers(request).anyMatch(header -> FaultHeaders.isOne(header.name()));
        return isFault && guard.isForeignPage(sender(request))
                ? Optional.of("Of web pages, only this server's own may send X-Understudy- headers.")
                : Optional.empty();
    }

    /** Returns which of the headers that a page wants to send it may send: all but those that make calls fail. */
    public static String allowedHeaders(HttpHeader asked) {
        return COMMA.splitAsStream(asked.value().toLowerCase(Locale.ROOT))
                .map(String::strip)
                .filter(name -> !FaultHeaders.isOne(name))
                .collect(Collectors.joining(", "));
    }

    private static OwnPageGuard.Sender sender(HttpRequest request) {
        return new OwnPageGuard.Sender(
                values(request, "Host"), values(request, "Origin"), values(request, "Sec-Fetch-Site"));
    }

    private static List<String> values(HttpRequest request, String name) {
        return headers(request)
                .filter(header -> header.name().equalsIgnoreCase(name))
                .map(HttpHeader::value)
                .toList();
    }

    private static Stream<HttpHeader> headers(HttpRequest request) {
        return StreamSupport.stream(request.getHeaders().spliterator(), false);
    }
}
