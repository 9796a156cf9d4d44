package understudy.api.sglang;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.engine.EngineTraits.Feature;
import understudy.faults.ReplicaState;
import understudy.kvcache.PrefixCacheStats;

/** Latest figures of all replicas whose engine is SGLang. Thread-safe. */
public final class SchedulerReports {
    private final ClusterSpec spec;
    private final Map<Integer, Entry> byReplica = new TreeMap<>();

    /** Figures of a replica, and what it and its predecessors had counted when they were told. */
    private static final class Entry {
        private SchedulerReport report;
        private long numPreemptions;
        private PrefixCacheStats lookups = PrefixCacheStats.NONE;

        Entry(SchedulerReport report) {
            this.report = report;
        }
    }

    /** Creates reports of a cluster that has done nothing yet. */
    public SchedulerReports(ClusterSpec spec) {
        this.spec = spec;
        for (int i = 0; i < spec.replicas().size(); i++) {
            show(i);
        }
    }

    private void show(int index) {
        var replica = spec.replica(index);
        if (replica.engineTraits().has(Feature.SGLANG_SERVER)) {
            byReplica.put(index, new Entry(new SchedulerReport(replica.kvCache().blockSize())));
        }
    }

    /** Accepts an event of the cluster. */
    public synchronized void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            var entry = byReplica.get(step.replicaIndex());
            if (entry != null) {
                onLoad(entry, step.load());
                entry.report.onStep(step);
            }
        } else if (event instanceof ClusterEvent.LoadChanged changed) {
            var entry = byReplica.get(changed.replicaIndex());
            if (entry != null) {
                onLoad(entry, changed.load());
            }
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            var entry = byReplica.get(changed.replicaIndex());
            if (entry != null) {
                entry.report.onKvCache(changed.kvCache(), entry.lookups);
                entry.lookups = changed.kvCache().prefixCache();
            }
        } else if (event instanceof ClusterEvent.ReplicasChanged changed) {
            onStates(changed.states());
        }
    }

    private static void onLoad(Entry entry, ClusterEvent.EngineLoad load) {
        entry.report.onLoad(load, load.numPreemptions() - entry.numPreemptions);
        entry.numPreemptions = load.numPreemptions();
    }

    /** A process that has died takes its figures with it. */
    private void onStates(List<ReplicaState> states) {
        for (int i = 0; i < states.size(); i++) {
            var entry = byReplica.get(i);
            if (entry == null) {
                show(i);
            } else if (!states.get(i).isUp()) {
                entry.report = new SchedulerReport(spec.replica(i).kvCache().blockSize());
            }
        }
    }

    /** Hands the figures of a replica, or with an empty one of all, to a reader, by index. */
    synchronized void read(OptionalInt replica, BiConsumer<Integer, SchedulerReport> reader) {
        byReplica.forEach((index, entry) -> {
            if (replica.isEmpty() || replica.getAsInt() == index) {
                reader.accept(index, entry.report);
            }
        });
    }
}
