package understudy.conform;

import it.unimi.dsi.fastutil.longs.Long2IntRBTreeMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.vllm.StepPlanner;
import understudy.kvcache.connector.TransferJob;
import understudy.kvcache.tier.OffloadingConnector;
import understudy.kvcache.tier.PrepareStoreOutput;
import understudy.kvcache.tier.TierOrderState;

/** Worker of a recorded run with host memory, to and from which each transfer takes as many steps as any other. */
final class OffloadingWorker extends ReplayWorker {
    private final RecordedConnector.Offload settings;
    private final OffloadingConnector connector;
    private final List<Object> attempts;
    private final Long2IntRBTreeMap due = new Long2IntRBTreeMap();
    private final Long2ObjectOpenHashMap<TransferJob> running = new Long2ObjectOpenHashMap<>();
    private List<Long> completed = List.of();

    OffloadingWorker(RecordedRun run, StepPlanner planner, RecordedConnector.Offload settings) {
        this(run, planner, settings, new ArrayList<>());
    }

    private OffloadingWorker(
            RecordedRun run, StepPlanner planner, RecordedConnector.Offload settings, List<Object> attempts) {
        this(run, planner, settings, attempts, connector(run, settings, attempts));
    }

    private OffloadingWorker(
            RecordedRun run,
            StepPlanner planner,
            RecordedConnector.Offload settings,
            List<Object> attempts,
            OffloadingConnector connector) {
        super(run, planner, connector);
        this.settings = settings;
        this.attempts = attempts;
        this.connector = connector;
    }

    private static OffloadingConnector connector(
            RecordedRun run, RecordedConnector.Offload settings, List<Object> attempts) {
        return new OffloadingConnector(
                settings.spec(false, run.config().speculation().usesEagle()),
                run.config().blockSize(),
                run.config().enablePrefixCaching(),
                attempt -> note(run, attempt, attempts));
    }

    private static void note(RecordedRun run, OffloadingConnector.StoreAttempt attempt, List<Object> attempts) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("store", run.requests().get((int) attempt.requestId()).id());
        fields.put("keys", attempt.numOffered());
        if (!(attempt.output() instanceof PrepareStoreOutput.Prepared prepared)) {
            fields.put("refused", true);
            attempts.add(fields);
        } else if (!prepared.keys().isEmpty()) {
            fields.put("cpu_blocks", prepared.blocks());
            fields.put("evicted", prepared.evictedBlocks());
            attempts.add(fields);
        }
    }

    @Override
    Map<String, Object> onPlanned(int step, long planStep) {
        var fields = super.onPlanned(step, planStep);
        fields.remove("allocated");
        var cpu = new ArrayList<Object>();
        var loads = new ArrayList<Object>();
        var stores = new ArrayList<Object>();
        for (var job : memory.connected().takeJobs()) {
            boolean isLoad = job.kind() == TransferJob.Kind.LOAD;
            running.put(job.job(), job);
            due.put(job.job(), step + (isLoad ? settings.loadSteps() : settings.storeSteps()));
            var source = isLoad ? job.otherBlocks() : job.gpuBlocks();
            var target = isLoad ? job.gpuBlocks() : job.otherBlocks();
            (isLoad ? loads : stores).add(List.of((int) job.job(), name(job.requestId()), source, target));
            if (isLoad) {
                cpu.add(Map.of("load", name(job.requestId()), "cpu_blocks", source));
            }
        }
        cpu.addAll(attempts);
        attempts.clear();
        var flush = new ArrayList<Integer>();
        for (long job : memory.connected().connector().jobsToFlush()) {
            flush.add((int) job);
            due.computeIfPresent(job, (id, at) -> step);
        }
        fields.put("cpu", cpu);
        fields.put("load_jobs", loads);
        fields.put("store_jobs", stores);
        fields.put("flush", flush);
        return fields;
    }

    @Override
    void beforeUpdate(int step, StepPlan executed) {
        completed = new ArrayList<>();
        for (var entry : due.long2IntEntrySet()) {
            if (entry.getIntValue() <= step) {
                completed.add(entry.getLongKey());
            }
        }
        completed.forEach(job -> due.remove(job.longValue()));
    }

    @Override
    List<EngineRequest> afterUpdate() {
        var arrived = new LongArrayList();
        for (long job : completed) {
            connector.onJobEnded(job, false);
            var ended = running.remove(job);
            if (ended.kind().isAwaited()) {
                arrived.add(ended.requestId());
            }
        }
        arrived.sort(null);
        arrived.forEach(this::arrive);
        return List.of();
    }

    @Override
    Map<String, Object> onStepEnded(int step) {
        var fields = super.onStepEnded(step);
        log.takeEnded();
        fields.put("completed_jobs", completed.stream().map(Long::intValue).toList());
        completed = List.of();
        var stats = connector.tier().stats();
        fields.put("cpu_used", stats.numUsed());
        fields.put("cpu_pending", stats.numPending());
        var state = connector.tier().orderState();
        if (state instanceof TierOrderState.Lru lru) {
            fields.put("cpu_evictable", lru.evictable());
        } else if (state instanceof TierOrderState.Arc arc) {
            fields.put("cpu_t1", arc.t1());
            fields.put("cpu_t2", arc.t2());
            fields.put("cpu_b1", arc.numB1());
            fields.put("cpu_b2", arc.numB2());
            fields.put("cpu_target", arc.target());
        }
        return fields;
    }
}
