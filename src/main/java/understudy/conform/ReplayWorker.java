package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.vllm.StepPlanner;
import understudy.engine.vllm.VllmRequest;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.content.ConnectedKvCacheManager;
import understudy.kvcache.content.ContentConfig;

/** Worker of a recorded run with a connector: moves KV, and reports that with the updates of steps. */
abstract class ReplayWorker {
    final RecordedRun run;
    final StepPlanner planner;
    final ConnectorLog log;
    final ConnectedKvCacheManager memory;

    ReplayWorker(RecordedRun run, StepPlanner planner, KvConnector connector) {
        this.run = run;
        this.planner = planner;
        log = new ConnectorLog(run, connector);
        memory = new ConnectedKvCacheManager((ContentConfig) run.kvCacheConfig(), log);
    }

    /** Returns the worker of a recorded run, or null if that has no connector. */
    static @Nullable ReplayWorker of(RecordedRun run, StepPlanner planner) {
        var connector = run.config().connector();
        if (connector == null) {
            return null;
        }
        return connector.offload() == null
                ? new ScriptedWorker(run, planner)
                : new OffloadingWorker(run, planner, connector.offload());
    }

    ConnectedKvCacheManager memory() {
        return memory;
    }

    /** Starts the transfers of a step that was planned; returns the recording's fields about it. */
    Map<String, Object> onPlanned(int step, long planStep) {
        var fields = log.takePlanned();
        var loading = new LinkedHashMap<String, Object>();
        loadingRequests()
                .forEach(request -> loading.put(
                        request.name(), IntArrayList.wrap(memory.connected().blocksOf(request.id()))));
        fields.put("loading", loading);
        return fields;
    }

    List<VllmRequest> loadingRequests() {
        return planner.requests().skipped().stream()
                .filter(VllmRequest::isLoading)
                .toList();
    }

    /** Reports failed loads before the result of a step is applied. */
    abstract void beforeUpdate(int step, StepPlan executed);

    /** Ends failed requests, and transfers that are over, after the result of a step; returns the failed requests. */
    abstract List<EngineRequest> afterUpdate();

    /** Returns the recording's fields from the end of a step. */
    Map<String, Object> onStepEnded(int step) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("held", names(memory.connected().held()));
        fields.put("deferred_blocks", memory.connected().numDeferredBlocks());
        return fields;
    }

    void arrive(long requestId) {
        if (memory.connected().onArrived(requestId)) {
            planner.requests().onKvArrived(requestId);
        }
    }

    List<String> names(long... ids) {
        return Arrays.stream(ids).mapToObj(this::name).toList();
    }

    String name(long id) {
        return run.requests().get((int) id).id();
    }
}
