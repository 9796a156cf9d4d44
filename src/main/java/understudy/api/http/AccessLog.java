package understudy.api.http;

import java.io.PrintStream;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;

/** Log of responses, a line each, as uvicorn writes it for vLLM: when the head of a response is made. */
public final class AccessLog {
    private static final Pattern UNPRINTABLE = Pattern.compile("[^\\x21-\\x7E]");

    private final PrintStream out;
    private final Set<String> unlogged;

    /**
     * Creates a log.
     *
     * @param unlogged paths whose responses have no line
     */
    public AccessLog(PrintStream out, Set<String> unlogged) {
        this.out = out;
        this.unlogged = unlogged;
    }

    /** Writes the line of a response, and returns the response. */
    public HttpResponse logged(HttpRequest request, HttpResponse response) {
        if (!unlogged.contains(request.getUri().path())) {
            out.println(line(request, response));
        }
        return response;
    }

    private static String line(HttpRequest request, HttpResponse response) {
        var status = response.status();
        return "INFO:     " + client(request) + " - \"" + request.method().value() + " "
                + oneLine(request.getUri().getPathString() + query(request)) + " "
                + request.protocol().value() + "\" " + status.intValue() + " " + status.reason();
    }

    private static String client(HttpRequest request) {
        return request.getAttribute(AttributeKeys.remoteAddress)
                .flatMap(address -> address.getAddress().map(host -> host.getHostAddress() + ":" + address.getPort()))
                .orElse("-");
    }

    private static String query(HttpRequest request) {
        return request.getUri().rawQueryString().map(query -> "?" + query).orElse("");
    }

    /** A path may have any character in it that was sent as an escape; a line of the log stays one. */
    private static String oneLine(String path) {
        return UNPRINTABLE.matcher(path).replaceAll("?");
    }
}
