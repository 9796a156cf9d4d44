package understudy.routing.admission;

import java.util.ArrayList;
import java.util.List;
import understudy.routing.ClusterView;

/** Ejection of slow replicas; see {@link EjectionSpec}. Looks only when a request is to be routed. */
public final class SlowReplicas {
    private final EjectionSpec spec;
    private final List<Pace> paces = new ArrayList<>();
    private long nextLookNanos;

    /** Pace of a replica in the current interval, and its ejections. */
    private static final class Pace {
        long nanos;
        long tokens;
        int numEjections;
        long ejectedUntilNanos;

        double meanNanos() {
            return (double) nanos / tokens;
        }
    }

    public SlowReplicas(EjectionSpec spec) {
        this.spec = spec;
        nextLookNanos = spec.intervalNanos();
    }

    /** Counts answers of a replica: the time from first to last tokens, and the tokens after the first ones. */
    public void onAnswers(int replica, long nanos, long tokens) {
        if (spec.isSet()) {
            var pace = pace(replica);
            pace.nanos += nanos;
            pace.tokens += tokens;
        }
    }

    /** Forgets a replica that goes down; its successor begins anew. */
    public void onDown(int replica, ClusterView view) {
        if (replica < paces.size()) {
            paces.set(replica, new Pace());
            view.setEjected(replica, false);
        }
    }

    /** Ejects replicas, or takes them back, if it is time for that. */
    public void look(ClusterView view) {
        if (!spec.isSet()) {
            return;
        }
        takeBack(view);
        if (view.nowNanos() >= nextLookNanos) {
            nextLookNanos = view.nowNanos() + spec.intervalNanos();
            eject(view);
            paces.forEach(pace -> {
                pace.nanos = 0;
                pace.tokens = 0;
            });
        }
    }

    /** Takes back those whose time is over, and slow ones rather than none. */
    private void takeBack(ClusterView view) {
        boolean isNoneLeft = view.numReady() == 0;
        for (int i = 0; i < paces.size(); i++) {
            boolean isOver = paces.get(i).ejectedUntilNanos <= view.nowNanos();
            if (view.isEjected(i) && (isOver || isNoneLeft)) {
                view.setEjected(i, false);
            }
        }
    }

    private void eject(ClusterView view) {
        double limit = spec.factor() * median(view);
        int numEjected = view.numEjected();
        int maxEjected = Math.max(1, (int) (spec.maxShare() * (view.numReady() + numEjected)));
        for (int i = 0; i < paces.size() && numEjected < maxEjected; i++) {
            var pace = paces.get(i);
            if (isJudged(i, view) && pace.meanNanos() > limit && view.numReady() > 1) {
                pace.numEjections++;
                pace.ejectedUntilNanos = view.nowNanos() + pace.numEjections * spec.durationNanos();
                view.setEjected(i, true);
                numEjected++;
            }
        }
    }

    private double median(ClusterView view) {
        var means = new ArrayList<Double>();
        for (int i = 0; i < paces.size(); i++) {
            if (isJudged(i, view)) {
                means.add(paces.get(i).meanNanos());
            }
        }
        means.sort(null);
        int size = means.size();
        return size == 0 ? 0 : (means.get((size - 1) / 2) + means.get(size / 2)) / 2;
    }

    private boolean isJudged(int replica, ClusterView view) {
        long tokens = paces.get(replica).tokens;
        return view.isReady(replica) && tokens > 0 && tokens >= spec.minTokens();
    }

    private Pace pace(int replica) {
        while (paces.size() <= replica) {
            paces.add(new Pace());
        }
        return paces.get(replica);
    }
}
