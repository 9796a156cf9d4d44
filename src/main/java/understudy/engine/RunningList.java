package understudy.engine;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;

/** The running requests in the order in which they were admitted. */
final class RunningList {
    private final ObjectArrayList<EngineRequest> requests = new ObjectArrayList<>();
    private final SchedulingPolicy policy;

    RunningList(SchedulingPolicy policy) {
        this.policy = policy;
    }

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

    /** Returns whom to preempt when blocks run out; there must be a request. */
    int victimIndex() {
        return policy == SchedulingPolicy.FCFS ? requests.size() - 1 : leastUrgentIndex();
    }

    /** The largest (priority, arrival); the first one of equals. */
    private int leastUrgentIndex() {
        int victimIndex = 0;
        for (int i = 1; i < requests.size(); i++) {
            var victim = requests.get(victimIndex).request();
            var other = requests.get(i).request();
            if (other.priority() > victim.priority()
                    || (other.priority() == victim.priority() && other.arrivalNanos() > victim.arrivalNanos())) {
                victimIndex = i;
            }
        }
        return victimIndex;
    }
}
