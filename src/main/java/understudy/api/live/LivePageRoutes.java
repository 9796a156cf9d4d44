package understudy.api.live;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.getFromResource;
import static org.apache.pekko.http.javadsl.server.Directives.getFromResourceDirectory;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;
import static org.apache.pekko.http.javadsl.server.Directives.pathSingleSlash;
import static org.apache.pekko.http.javadsl.server.Directives.respondWithHeaders;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.List;
import java.util.function.Supplier;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.http.RoutePart;
import understudy.report.html.Page;

/** The live page at {@code /}: its files, which are all in the jar, and the events that keep it up to date. */
public final class LivePageRoutes implements RoutePart {
    private static final String FILES = "understudy/api/page";
    private static final ClassLoader CLASS_LOADER = LivePageRoutes.class.getClassLoader();

    /**
     * The page loads nothing from elsewhere, so the browser need not let it. Chart.js sets styles of its canvases. In a
     * frame, another page could have people press its buttons unawares.
     */
    private static final List<HttpHeader> PAGE_HEADERS = List.of(
            RawHeader.create(
                    "Content-Security-Policy",
                    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; frame-ancestors 'none'"),
            RawHeader.create("X-Content-Type-Options", "nosniff"),
            RawHeader.create("Cache-Control", "no-cache"));

    private final LiveFeed feed;

    public LivePageRoutes(LiveFeed feed) {
        this.feed = feed;
    }

    @Override
    public Route route() {
        var html = ContentTypes.TEXT_HTML_UTF8;
        var script = ContentTypes.create(MediaTypes.APPLICATION_JAVASCRIPT, HttpCharsets.UTF_8);
        // The method last: a part that asked for it first would hide that other parts want another one.
        return concat(
                path(segment("live").slash("events"), () -> get(() -> complete(events()))),
                pathSingleSlash(() -> file(() -> getFromResource(FILES + "/index.html", html, CLASS_LOADER))),
                path(
                        segment("page").slash("chart.js"),
                        () -> file(() -> getFromResource(Page.CHART_JS, script, CLASS_LOADER))),
                pathPrefix("page", () -> file(() -> getFromResourceDirectory(FILES, CLASS_LOADER))));
    }

    private static Route file(Supplier<Route> file) {
        return get(() -> respondWithHeaders(PAGE_HEADERS, file));
    }

    private HttpResponse events() {
        var events = HttpEntities.createChunked(ContentTypes.create(MediaTypes.TEXT_EVENT_STREAM), feed.events());
        return HttpResponse.create()
                .withEntity(events)
                .addHeader(RawHeader.create("Cache-Control", "no-cache"))
                .addHeader(RawHeader.create("X-Accel-Buffering", "no"));
    }
}
