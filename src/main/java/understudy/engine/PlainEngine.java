package understudy.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.DraftOutput;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.Settlement;

/**
 * Base of engines that plan a step when the one before has ended, serve requests in order of arrival, and take no
 * blocks back. A subclass chooses the requests to admit and to schedule: {@link #next} and {@link #answer}.
 */
public abstract class PlainEngine implements Engine, EngineLoad {
    private final int blockSize;
    private final int maxModelLen;
    private final boolean cachesAfterStep;
    private final RequestTable<PlainRequest> all = new RequestTable<>(PlainRequest::new);
    private final ArrayDeque<PlainRequest> waiting = new ArrayDeque<>();
    private final List<PlainRequest> running = new ArrayList<>();
    private final StepPlan plan = new StepPlan();
    private final StepResult result = new StepResult(0, false);
    private boolean admitsNone;
    private long numSteps;
    private long nowNanos;

    /** Creates an engine without requests, for a memory like this. */
    protected PlainEngine(BlockCacheSpec kvCache) {
        blockSize = kvCache.growthUnit();
        maxModelLen = kvCache.maxModelLen();
        cachesAfterStep = kvCache.enablePrefixCaching() && !kvCache.sharesWithinStep();
    }

    @Override
    public final EngineLoad load() {
        return this;
    }

    /** Returns the running requests in the order in which they are served, which a subclass may change. */
    protected final List<PlainRequest> running() {
        return running;
    }

    /** Returns the request that waits longest, or null if none waits. */
    protected final @Nullable PlainRequest head() {
        return waiting.peek();
    }

    /** Returns whether those that wait are to go on waiting. */
    protected final boolean admitsNone() {
        return admitsNone;
    }

    @Override
    public EngineRequest add(Request request, long atNanos) {
        var added = all.add(request, atNanos);
        waiting.add(added);
        return added;
    }

    @Override
    public @Nullable EngineRequest find(long requestId) {
        return all.find(requestId);
    }

    @Override
    public void begin(long atNanos) {
        plan.begin(++numSteps);
        nowNanos = atNanos;
    }

    @Override
    public StepPlan plan() {
        return plan;
    }

    /** Returns the question whether a waiting request may run, with its whole prompt in one step. */
    protected final AdmissionRequest admission(PlainRequest head) {
        return AdmissionRequest.of(head.lookup(), Integer.MAX_VALUE, head.maxTotalTokens())
                .with()
                .enableChunkedPrefill(false)
                .isAnythingRunning(!running.isEmpty())
                .atNanos(nowNanos)
                .build();
    }

    /** Has the request that waits longest run from now on, since the memory has granted its blocks. */
    protected final PlainRequest admit(Admission.Admitted admitted) {
        var head = waiting.remove();
        running.add(head);
        plan.admit(head, false);
        head.onAdmitted(admitted, nowNanos);
        return head;
    }

    /**
     * Schedules a running request.
     *
     * @param numTokens tokens to compute; 0 if its logits are known
     * @param isPartial whether more are to follow before one can be sampled
     */
    protected final void schedule(PlainRequest request, int numTokens, boolean isPartial) {
        int index = plan.size();
        int context = request.numComputedTokens();
        plan.schedule(request, numTokens);
        request.onScheduled(numTokens, plan.step());
        plan.settle(index, context, isPartial);
    }

    @Override
    public StepResult update(StepPlan executed, long atNanos, DraftOutput output) {
        result.begin(executed.step(), atNanos);
        for (int i = 0; i < executed.size(); i++) {
            var request = (PlainRequest) executed.request(i);
            if (!request.isFinished()) {
                int numTokensToCache = cachesAfterStep ? numCompleted(request, executed.numScheduledTokens(i)) : 0;
                apply(request, executed.isPartial(i), numTokensToCache, atNanos);
            }
        }
        return result;
    }

    private void apply(PlainRequest request, boolean isPartial, int numTokensToCache, long atNanos) {
        Settlement.Builder settlement = result.settlement();
        if (!isPartial) {
            if (request.numOutputTokens() > 0 || request.isResumed()) {
                result.addGap(atNanos - request.lastTokenNanos());
            }
            var finishReason = request.sample(atNanos, maxModelLen);
            result.addSampled(request, 1);
            if (finishReason != null) {
                end(request, finishReason);
                result.addFinished(request);
                settlement.end(request.handle(), numTokensToCache, request.numTokens(), request.lastStep());
                return;
            }
        }
        if (numTokensToCache > 0) {
            settlement.add(request.handle(), numTokensToCache, request.numTokens());
        }
    }

    /** Returns the computed tokens, or 0 if neither a block nor the prompt has become complete with the latest ones. */
    private int numCompleted(PlainRequest request, int numTokens) {
        int after = request.numComputedTokens();
        int before = after - numTokens;
        boolean completesBlock = after / blockSize > before / blockSize;
        boolean completesPrompt = before < request.numPromptTokens() && after >= request.numPromptTokens();
        return completesBlock || completesPrompt ? after : 0;
    }

    @Override
    public @Nullable EngineRequest abort(long requestId) {
        var request = all.find(requestId);
        if (request != null) {
            end(request, FinishReason.ABORT);
        }
        return request;
    }

    private void end(PlainRequest request, FinishReason reason) {
        if (!running.remove(request)) {
            waiting.remove(request);
        }
        request.end(reason);
        all.remove(request);
    }

    @Override
    public void setAdmitsNone(boolean none) {
        admitsNone = none;
    }

    @Override
    public int numToServe() {
        return admitsNone ? running.size() : all.size();
    }

    @Override
    public int numUnfinished() {
        return all.size();
    }

    @Override
    public int numRunning() {
        return running.size();
    }

    @Override
    public EngineRequest running(int index) {
        return running.get(index);
    }

    @Override
    public int numWaiting() {
        return waiting.size();
    }

    @Override
    public long pendingPrefillTokens() {
        return all.pendingPrefillTokens();
    }
}
