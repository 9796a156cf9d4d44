package understudy.plan;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Loads of a search by their numbers of requests, the shortest first and the whole one last.
 *
 * @param eta how many times as long each is as the one before
 */
public record Loads(List<Long> requests, int eta) {

    /** Returns the whole load, and shorter ones down to the fewest requests. */
    public static Loads of(long whole, long fewest, int eta) {
        var requests = new ArrayList<Long>();
        for (long load = whole; requests.isEmpty() || load >= fewest; load /= eta) {
            requests.add(load);
        }
        Collections.reverse(requests);
        return new Loads(List.copyOf(requests), eta);
    }

    /** Returns the place of the whole load. */
    public int last() {
        return requests.size() - 1;
    }

    /** Returns how many requests a load has. */
    public long numRequests(int load) {
        return requests.get(load);
    }
}
