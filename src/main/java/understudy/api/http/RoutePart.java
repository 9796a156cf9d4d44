package understudy.api.http;

import org.apache.pekko.http.javadsl.server.Route;

/** A group of routes of a server. */
@FunctionalInterface
public interface RoutePart {

    /** Returns the routes; requests that match none go to the next part. */
    Route route();
}
