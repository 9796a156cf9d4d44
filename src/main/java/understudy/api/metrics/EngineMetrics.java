package understudy.api.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import understudy.api.call.ApiSettings;
import understudy.api.call.ClusterLink;
import understudy.api.call.Generation;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.ReplicaSpec;
import understudy.cluster.RequestEvent;
import understudy.engine.EngineTraits.Feature;
import understudy.faults.ReplicaState;
import understudy.kvcache.PrefixCacheStats;

/** Metrics of every replica, under the names, with the labels and buckets of the server that it stands in for. */
public final class EngineMetrics implements ClusterLink.Watcher {

    private final ClusterSpec spec;
    private final ServerFamilies vllm;
    private final ServerFamilies sglang;
    private final Counter routerDecisions;
    private final Map<Integer, CounterDataPoint> decisions = new HashMap<>();
    private final Map<Integer, ReplicaSeries> replicas = new ConcurrentHashMap<>();
    private final Map<Integer, Totals> totals = new HashMap<>();

    /** Counts of a replica since the start of the run, its predecessors included. */
    record Totals(PrefixCacheStats prefixCache, long numPreemptions, long numRequests) {
        static final Totals NONE = new Totals(PrefixCacheStats.NONE, 0, 0);

        Totals with(ClusterEvent.EngineLoad load) {
            return new Totals(prefixCache, load.numPreemptions(), load.numRequests());
        }

        Totals with(ClusterEvent.KvCacheState state) {
            return new Totals(state.prefixCache(), numPreemptions, numRequests);
        }
    }

    /**
     * Registers the series of all replicas.
     *
     * @param spec names the replicas and their features
     */
    public EngineMetrics(PrometheusRegistry registry, ApiSettings settings, ClusterSpec spec) {
        this.spec = spec;
        var ofVllm = spec.replicas().stream().filter(each -> !isSglang(each)).toList();
        var families = new EngineFamilies(registry, settings, ofVllm);
        vllm = families;
        if (settings.hasLegacyMetrics()) {
            registry.register(families.legacyNames());
        }
        boolean showsSglang = settings.sglang().hasMetrics()
                && ofVllm.size() < spec.replicas().size();
        sglang = showsSglang ? new SglangFamilies(registry, settings.servedModel()) : ServerFamilies.NONE;
        routerDecisions = Counter.builder()
                .name("understudy_router_decisions")
                .help("Requests that the router has sent to a replica.")
                .labelNames("engine")
                .register(registry);
        for (int i = 0; i < spec.replicas().size(); i++) {
            show(i);
        }
    }

    private static boolean isSglang(ReplicaSpec replica) {
        return replica.engineTraits().has(Feature.SGLANG_SERVER);
    }

    private ServerFamilies families(int index) {
        return isSglang(spec.replica(index)) ? sglang : vllm;
    }

    private void show(int index) {
        decisions.put(index, routerDecisions.labelValues(String.valueOf(index)));
        replicas.put(index, families(index).show(index, spec.replica(index)));
    }

    /** Accepts an event of the cluster; on one thread. */
    public void on(ClusterEvent event) {
        if (event instanceof ClusterEvent.StepEnded step) {
            onStep(step);
        } else if (event instanceof ClusterEvent.LoadChanged changed) {
            onLoad(changed.replicaIndex(), changed.load());
        } else if (event instanceof ClusterEvent.KvCacheChanged changed) {
            onKvCache(changed.replicaIndex(), changed.kvCache());
        } else if (event instanceof ClusterEvent.KvPushEnded push) {
            replicas.getOrDefault(push.replicaIndex(), ReplicaSeries.NONE).onPush(push);
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
        var before = totalsOf(index);
        totals.put(index, before.with(load));
        var replica = replicas.get(index);
        if (replica != null) {
            Objects.requireNonNull(decisions.get(index)).inc(load.numRequests() - before.numRequests);
            replica.onLoad(load, before);
        }
    }

    private void onKvCache(int index, ClusterEvent.KvCacheState state) {
        var before = totalsOf(index);
        totals.put(index, before.with(state));
        var replica = replicas.get(index);
        if (replica != null) {
            replica.onKvCache(state, before);
        }
    }

    private Totals totalsOf(int index) {
        return totals.getOrDefault(index, Totals.NONE);
    }

    /**
     * The counters of a process end with it: a replica that is not up has no series, and a new one counts from 0. The
     * router's counts stay.
     */
    private void onStates(List<ReplicaState> states) {
        for (int i = 0; i < states.size(); i++) {
            boolean isUp = states.get(i).isUp();
            if (isUp && !replicas.containsKey(i)) {
                show(i);
            } else if (!isUp && replicas.remove(i) != null) {
                families(i).forget(i);
            }
            if (isUp) {
                Objects.requireNonNull(replicas.get(i)).onState(states.get(i));
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
