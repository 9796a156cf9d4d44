package understudy.engine;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;

/** The running requests in the order in which they were admitted. */
final class RunningList {
    private final ObjectArrayList<EngineRequest> requests = new ObjectArrayList<>();

    int size() {
        return requests.size();
    }

    EngineRequest get(int index) {
        return requests.get(index);
    }

    void add(EngineRequest request) {
        requests.add(request);
    }

    EngineRequest remove(int index) {
        return requests.remove(index);
    }

    void remove(EngineRequest request) {
        requests.remove(request);
    }

    /** Drops all requests that have finished; the others keep their order. */
    void removeFinished() {
        int kept = 0;
        for (int i = 0; i < requests.size(); i++) {
            var request = requests.get(i);
            if (!request.isFinished()) {
                requests.set(kept++, request);
            }
        }
        requests.size(kept);
    }
}
