package understudy.api.metrics;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import understudy.api.call.ApiSettings;
import understudy.api.call.ClusterLink;
import understudy.api.call.Generation;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.RequestEvent;
import understudy.faults.ReplicaState;

/**
 * vLLM's metrics of every replica, under its names, with its labels and buckets ({@code vllm/v1/metrics/loggers.py}).
 */
public final class EngineMetrics implements ClusterLink.Watcher {

    private final ApiSettings settings;
    private final ClusterSpec spec;
    private final EngineFamilies families;
    private final Map<Integer, ReplicaMetrics> replicas = new ConcurrentHashMap<>();
    private final Map<Integer, ReplicaMetrics.Totals> totals = new HashMap<>();

    /**
     * Registers the series of all replicas.
     *
     * @param spec names the replicas and their features
     */
    public EngineMetrics(PrometheusRegistry registry, ApiSettings settings, ClusterSpec spec) {
        this.settings = settings;
        this.spec = spec;
        families = new EngineFamilies(registry, settings.model().maxModelLen(), spec.replicas());
        if (settings.hasLegacyMetrics()) {
            registry.register(families.legacyNames());
        }
        for (int i = 0; i < spec.replicas().size(); i++) {
            show(i, ReplicaMetrics.Totals.NONE);
        }
    }

    private void show(int index, ReplicaMetrics.Totals before) {
        var replica = spec.replica(index);
        families.cacheConfig(index, replica.engine(), settings.model().hashAlgorithm());
        String engine = String.valueOf(index);
        var traffic = families.transfers.new Series(engine, settings.servedModel(), replica);
        var drafts = families.drafts(engine, settings.servedModel(), replica);
        replicas.put(index, new ReplicaMetrics(families, engine, settings.servedModel(), before, traffic, drafts));
    }

    /** Accepts an event of the cluster; on one thread. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            onStep(step);
        } else if (event instanceof ClusterEvent.LoadChanged changed) {
            onLoad(changed.replicaIndex(), changed.load());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            onKvCache(changed.replicaIndex(), changed.kvCache());
        } else if (event instanceof ClusterEvent.ReplicasChanged changed) {
            onStates(changed.states());
        }
    }

    private void onStep(ClusterEvent.StepEnded step) {
        onLoad(step.replicaIndex(), step.load());
        var replica = replicas.get(step.replicaIndex());
        if (replica != null) {
            replica.onStep(step);
        }
    }

    private void onLoad(int index, ClusterEvent.EngineLoad load) {
        var replica = replicas.get(index);
        if (replica == null) {
            totals.put(index, totalsOf(index).with(load));
        } else {
            replica.onLoad(load);
            if (families.loras != null) {
                families.loras.on(index, load.adapters());
            }
        }
    }

    private void onKvCache(int index, ClusterEvent.KvCacheState state) {
        var replica = replicas.get(index);
        if (replica == null) {
            totals.put(index, totalsOf(index).with(state));
        } else {
            replica.onKvCache(state);
        }
    }

    private ReplicaMetrics.Totals totalsOf(int index) {
        return totals.getOrDefault(index, ReplicaMetrics.Totals.NONE);
    }

    /** The counters of a process end with it: a replica that is not up has no series, and a new one counts from 0. */
    private void onStates(List<ReplicaState> states) {
        for (int i = 0; i < states.size(); i++) {
            var shown = replicas.get(i);
            if (states.get(i).isUp() && shown == null) {
                show(i, totalsOf(i));
            } else if (!states.get(i).isUp() && shown != null) {
                totals.put(i, shown.totals());
                replicas.remove(i);
                families.forget(i);
            }
            if (states.get(i).isUp()) {
                families.sleepState(String.valueOf(i), settings.servedModel(), states.get(i));
            }
        }
    }

    /**
     * Counts a request that has ended. As with vLLM, a failure that the engine survives counts as its {@code error};
     * one that no engine has seen does not, nor does one with which the engine's process, and with it its counters, has
     * died.
     */
    @Override
    public void onEnded(RequestEvent.Ended ended, Generation generation) {
        boolean isLost = ended instanceof RequestEvent.Failed failed
                && (failed.cause() == RequestEvent.FailureCause.CRASH
                        || failed.cause() == RequestEvent.FailureCause.NO_REPLICA);
        var replica = isLost ? null : replicas.get(ended.timing().replicaIndex());
        if (replica != null) {
            replica.onEnded(ended, generation, String.valueOf(generation.reason()));
        }
    }
}
