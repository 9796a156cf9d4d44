package understudy.engine.vllm;

import it.unimi.dsi.fastutil.ints.IntSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.Request;
import understudy.engine.RequestTable;
import understudy.engine.StepPlan;
import understudy.engine.lora.AdapterUse;
import understudy.engine.lora.StepLoras;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.BlockCacheSpec;

/** The unfinished requests of an engine: those that wait, those that run, and what a step's result does to them. */
public final class RequestBook implements EngineLoad {
    final WaitingQueues<VllmRequest> waiting;
    final RunningList running = new RunningList();
    final DecodeCohort cohort;
    final SchedulerRules rules;
    private final RequestTable<VllmRequest> all = new RequestTable<>(VllmRequest::new);
    private final StepUpdate stepUpdate;
    private final int blockSize;
    private final SchedulerConfig config;
    private boolean admitsNone;

    /** Creates a book for a scheduler with these settings. */
    RequestBook(BlockCacheSpec kvCache, SchedulerConfig config) {
        this.config = config;
        boolean isAsync = config.asyncScheduling();
        waiting = new WaitingQueues<>(config.policy());
        blockSize = kvCache.blockSize();
        rules = new SchedulerRules(config, kvCache);
        int minRunning = rules.seeEach() ? DecodeCohort.NEVER : config.decodeCohortMinSeqs();
        cohort = new DecodeCohort(running, kvCache, isAsync, minRunning);
        stepUpdate = new StepUpdate(kvCache, isAsync, all, waiting, running, cohort, rules);
    }

    /** Queues a request that has reached the engine at {@code atNanos}. */
    VllmRequest add(Request request, long atNanos) {
        var added = all.add(request, atNanos);
        waiting.add(added);
        return added;
    }

    /** Applies the result of a step that ran until {@code atNanos}. */
    VllmResult update(VllmPlan executed, long atNanos, DraftOutput output) {
        return stepUpdate.apply(executed, atNanos, output);
    }

    /** Returns whether a waiting request may be looked at in this step, or is passed over. */
    boolean isReady(VllmRequest head) {
        for (var rule : rules.on) {
            if (!rule.mayAdmit(head, waiting)) {
                return false;
            }
        }
        return head.numStaleTokens == 0;
    }

    /** Counts the scheduled tokens of a plan as computed; its cohort has done so. */
    void settle(VllmPlan plan) {
        plan.settleMembers();
        for (int i = plan.numMembers(); i < plan.size(); i++) {
            for (var rule : rules.on) {
                rule.onScheduled(plan, i);
            }
            var request = plan.request(i);
            int context = request.numComputedTokens;
            boolean isPartial = request.onScheduled(plan.numScheduledTokens(i), plan.step(), config.asyncScheduling());
            request.isPrefillChunk = isPartial;
            for (var rule : rules.on) {
                rule.onSettled(plan, i, isPartial);
            }
            plan.settle(i, context, isPartial);
        }
    }

    /** Returns the adapters of this engine, to load some between two steps. */
    public StepLoras loras() {
        return rules.loras.adapters();
    }

    @Override
    public AdapterUse adapterUse() {
        return rules.loras.use(running, waiting);
    }

    /** Preempts everything that runs, and drops what is in flight; returns the requests, the last one first. */
    List<EngineRequest> preemptAll() {
        cohort.dissolve();
        var preempted = new ArrayList<EngineRequest>();
        for (int i = running.size() - 1; i >= 0; i--) {
            var request = running.remove(i);
            request.onPreempted();
            request.onReset();
            for (var rule : rules.on) {
                rule.onPreempted(request);
            }
            waiting.prepend(request);
            preempted.add(request);
        }
        return preempted;
    }

    /** Ends a request; returns null if it has ended already or was never here. */
    @Nullable VllmRequest abort(long requestId) {
        var request = all.find(requestId);
        if (request != null) {
            stepUpdate.abort(request);
        }
        return request;
    }

    /** Ends the wait of a request for its KV, with the next plan; does nothing if it waits no more. */
    public void onKvArrived(long requestId) {
        var request = all.find(requestId);
        if (request != null) {
            rules.loads.onKvArrived(request);
        }
    }

    /**
     * Takes requests back whose blocks could not be loaded; see {@link LoadFailure}. The results that the next update
     * has for those that run are dropped.
     *
     * @param tables block ids of a request, by its id and handle
     * @param executed the step whose result is to be applied next
     * @return the requests that hold an invalid block, those that wait first
     */
    public List<LoadFailure.Affected> onBlocksInvalid(
            IntSet invalid, Function<VllmRequest, int[]> tables, StepPlan executed) {
        cohort.dissolve();
        var failure = new LoadFailure(blockSize, invalid, tables);
        var loading = waiting.skipped().stream()
                .filter(request -> request.status == VllmRequest.Status.WAITING_FOR_REMOTE_KVS)
                .toList();
        var affected = new ArrayList<>(failure.cut(loading, executed));
        var cutRunning = failure.cut(running.asList(), executed);
        stepUpdate.dropResults(
                cutRunning.stream().map(LoadFailure.Affected::request).toList());
        affected.addAll(cutRunning);
        return affected;
    }

    /** Returns a request that has not ended, or null. */
    public @Nullable VllmRequest find(long requestId) {
        return all.find(requestId);
    }

    @Override
    public int numUnfinished() {
        return all.size();
    }

    /**
     * Returns whether there is something to plan (vLLM {@code has_requests}), be it only an end that the memory must
     * learn.
     */
    boolean hasWork() {
        return numToServe() > 0 || rules.loads.hasUnreadEnd();
    }

    /** Returns the number of requests that plans are made for (vLLM {@code get_num_unfinished_requests}). */
    int numToServe() {
        return admitsNone ? running.size() : numUnfinished();
    }

    /** Sets whether those that wait go on waiting. */
    void setAdmitsNone(boolean admitsNone) {
        this.admitsNone = admitsNone;
    }

    boolean admitsNone() {
        return admitsNone;
    }

    @Override
    public int numRunning() {
        return running.size();
    }

    @Override
    public long pendingPrefillTokens() {
        return all.pendingPrefillTokens();
    }

    @Override
    public VllmRequest running(int index) {
        return running.get(index);
    }

    /** Returns the requests that wait their turn, in the order in which they are looked at. */
    public List<VllmRequest> waiting() {
        return waiting.waiting();
    }

    /** Returns the requests that could not be admitted when it was their turn, in the order in which they are looked at. */
    public List<VllmRequest> skipped() {
        return waiting.skipped();
    }

    @Override
    public int numSkipped() {
        return waiting.numSkipped();
    }

    @Override
    public int numWaiting() {
        return waiting.size();
    }
}
