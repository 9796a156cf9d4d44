package understudy.app;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/** Text behind {@code python3 -c}, of which what manifests do with it can be done without Python. */
final class PythonText {
    private static final Pattern URL = Pattern.compile("https?://[^\"'\\s)\\\\]+");
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private PythonText() {}

    /** Returns the first address in a text: a probe asks it. */
    static Optional<URI> address(String text) {
        var url = URL.matcher(text);
        try {
            return url.find() ? Optional.of(URI.create(url.group())) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Returns whether a text asks for the version of vLLM. */
    static boolean asksForVersion(String text) {
        return text.contains("vllm.__version__")
                || text.contains("version('vllm')")
                || text.contains("version(\"vllm\")");
    }

    /** Asks an address, and returns what is wrong with its answer; empty if it is good, as Python's urlopen has it. */
    static Optional<String> problem(URI address) {
        var client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .connectTimeout(LIMIT)
                .build();
        try {
            var request = HttpRequest.newBuilder(address).timeout(LIMIT).build();
            int status = client.send(request, BodyHandlers.discarding()).statusCode();
            return status < HttpURLConnection.HTTP_BAD_REQUEST ? Optional.empty() : Optional.of("status " + status);
        } catch (IOException e) {
            return Optional.of(e.toString());
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        }
    }
}
