package understudy.api.http;

import java.util.OptionalInt;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;

/** Dialect of a port, where servers differ in what holds for all of their paths: the words of errors, and the keys. */
public interface Dialect {

    /**
     * Returns the answer to a request that has failed.
     *
     * @param path of the request
     */
    HttpResponse answer(ApiException failure, String path);

    /** Returns the status that refuses a request for want of a key, or empty if the request is let in. */
    OptionalInt refusal(HttpRequest request);
}
