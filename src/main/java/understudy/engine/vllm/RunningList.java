package understudy.engine.vllm;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The running requests in the order in which they were admitted. */
final class RunningList {
    private final ObjectArrayList<VllmRequest> requests = new ObjectArrayList<>();
    private int nextOrder;

    int size() {
        return requests.size();
    }

    VllmRequest get(int index) {
        return requests.get(index);
    }

    /** Returns whether some request sampled with the step in which it was scheduled last. */
    boolean isAnyDecoding() {
        for (int i = 0; i < requests.size(); i++) {
            if (!requests.get(i).isPrefillChunk) {
                return true;
            }
        }
        return false;
    }

    /** Returns the requests in order; a view. */
    List<VllmRequest> asList() {
        return Collections.unmodifiableList(requests);
    }

    void add(VllmRequest request) {
        request.runningOrder = nextOrder++;
        requests.add(request);
    }

    VllmRequest remove(int index) {
        return requests.remove(index);
    }

    /** Removes a request, and returns where it stood, or -1 if it was not here. */
    int remove(VllmRequest request) {
        int index = indexOf(request.runningOrder);
        if (index == requests.size() || requests.get(index) != request) {
            return -1;
        }
        requests.remove(index);
        return index;
    }

    /** Returns the request with a place in the running order, or null if it is no longer here. */
    @Nullable VllmRequest find(int runningOrder) {
        int index = indexOf(runningOrder);
        if (index == requests.size()) {
            return null;
        }
        var found = requests.get(index);
        return found.runningOrder == runningOrder ? found : null;
    }

    /** Returns the index of a request that is here. */
    int indexOf(VllmRequest request) {
        return indexOf(request.runningOrder);
    }

    private int indexOf(int runningOrder) {
        return indexOf(requests, runningOrder);
    }

    /** Returns the index of the first request that does not stand before a place in the running order. */
    static int indexOf(ObjectArrayList<VllmRequest> inRunningOrder, int runningOrder) {
        int low = 0;
        int high = inRunningOrder.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (inRunningOrder.get(middle).runningOrder < runningOrder) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
