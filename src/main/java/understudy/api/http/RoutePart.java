package understudy.api.http;

import org.apache.pekko.http.javadsl.server.Route;

/** A group of routes of a server. */
@FunctionalInterface
public interface RoutePart {

    /** Returns the routes; what they do not match, the next part gets. */
    Route route();
}
