package understudy.api;

import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.Directives;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.http.RoutePart;

/** Redirect from a path of vLLM's with a trailing slash to the path without it, as in FastAPI. */
final class TrailingSlashes implements RoutePart {
    @Override
    public Route route() {
        return Directives.extractUri(uri -> {
            String path = uri.path();
            String without = withoutSlashes(path);
            return !without.equals(path) && ServerEdge.HANDLERS.contains(without)
                    ? Directives.complete(redirect(uri.path(without).toRelative()))
                    : Directives.reject();
        });
    }

    private static String withoutSlashes(String path) {
        int end = path.length();
        while (end > 0 && path.charAt(end - 1) == '/') {
            end--;
        }
        return path.substring(0, end);
    }

    /**
     * Method and body stay what they are. The target is relative: the header Host is the client's word, and behind a
     * proxy neither it nor the scheme need be what the client has asked.
     */
    private static HttpResponse redirect(Uri target) {
        return HttpResponse.create()
                .withStatus(StatusCodes.TEMPORARY_REDIRECT)
                .addHeader(RawHeader.create("Location", target.toString()));
    }
}
