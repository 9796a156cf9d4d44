package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import understudy.engine.speculation.DraftOutput;

/**
 * An engine and its steps in flight (vLLM {@code v1/engine/core.py}): one, or two with asynchronous scheduling, where
 * the batch of step n+1 is fixed when step n starts. Requests that arrive while a plan is being made take effect after
 * it.
 *
 * <p>As in vLLM, the engine waits for the oldest result as soon as it has nothing more to plan: with a step in flight,
 * what arrives after an empty plan is looked at when that step has ended, even if there is room for another one.
 */
public final class EngineCore {
    private final Engine engine;
    private RequestLimits limits;
    private final int maxStepsInFlight;
    private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();
    private final ArrayDeque<Request> arrivedMeanwhile = new ArrayDeque<>();
    private final List<FailedLoad> failedLoads = new ArrayList<>();
    private final LongArrayList arrivedKv = new LongArrayList();
    private boolean isPlanning;
    private boolean isBlocked;
    private PauseState pauseState = PauseState.UNPAUSED;
    private boolean isCalled;

    /** Whether nothing can be planned before KV arrives, blocks become free, or a request comes or goes. */
    private boolean isParked;

    /** Whether anything of that has happened since the last plan was begun. */
    private boolean isWoken;

    /** Creates an engine without requests, which turns away requests beyond its limits. */
    public EngineCore(EngineSpec spec) {
        this(spec.createEngine(), spec.limits(), spec.traits().maxStepsInFlight());
    }

    /** Creates the steps of an engine without requests. */
    public EngineCore(Engine engine, RequestLimits limits, int maxStepsInFlight) {
        this.engine = engine;
        this.limits = limits;
        this.maxStepsInFlight = maxStepsInFlight;
    }

    /** Returns the engine, to carry on a conversation that {@link #beginPlan} has opened, and to look at. */
    public Engine engine() {
        return engine;
    }

    /** Returns a request as it can be served, if it can. */
    public Request fit(Request request) {
        return limits.fit(request);
    }

    /** Returns why a request can never be served, or empty if it can. */
    public Optional<String> refusal(Request request) {
        return limits.refusal(request);
    }

    /**
     * Turns away, from now on, what is beyond these limits, since the memory gets another size; what is here already
     * stays.
     */
    public void onMemoryResized(RequestLimits newLimits) {
        limits = newLimits;
        engine.onMemoryResized();
    }

    /** Returns whether a conversation about a plan is open; then requests must not be aborted. */
    public boolean isPlanning() {
        return isPlanning;
    }

    /** Queues a request that has reached the engine at {@code atNanos}. */
    public void add(Request request, long atNanos) {
        wake();
        if (isPlanning) {
            arrivedMeanwhile.add(request);
        } else {
            engine.add(request, atNanos);
        }
    }

    /** Marks the engine as awake, since something has changed that the next plan could take into account. */
    public void wake() {
        isParked = false;
        isWoken = true;
    }

    /** Requests for which steps are planned (vLLM {@code PauseState}). */
    public enum PauseState {
        UNPAUSED,
        /** Only for requests that run. */
        PAUSED_NEW,
        /** For none. */
        PAUSED_ALL
    }

    /** Sets the requests for which steps are planned from now on (vLLM {@code pause_scheduler}). */
    public void setPauseState(PauseState pauseState) {
        this.pauseState = pauseState;
        engine.setAdmitsNone(pauseState != PauseState.UNPAUSED);
    }

    public PauseState pauseState() {
        return pauseState;
    }

    /** Returns whether nothing runs and nothing is in flight. */
    public boolean isDrained() {
        return !isPlanning && inFlight.isEmpty() && engine.load().numRunning() == 0;
    }

    /** Sets whether a call has come that is answered between two plans (vLLM's utility calls): until then none is made. */
    public void setCalled(boolean isCalled) {
        this.isCalled = isCalled;
    }

    /** Returns whether the engine does nothing before the result of the oldest step in flight. */
    public boolean awaitsResult() {
        return isBlocked || inFlight.size() >= maxStepsInFlight;
    }

    /** Returns how many steps the device has not finished, or whose results are not applied. */
    public int numInFlight() {
        return inFlight.size();
    }

    /** Returns whether the engine would try to plan a step now. */
    public boolean canPlan() {
        boolean mayPlan = !isCalled && !isPlanning && !isBlocked && !isParked;
        boolean hasRoom = mayPlan && inFlight.size() < maxStepsInFlight;
        return hasRoom && pauseState != PauseState.PAUSED_ALL && (engine.hasWork() || !inFlight.isEmpty());
    }

    /** Tries to plan again without waiting for a result, since the engine plans at fixed intervals. */
    public void unblock() {
        isBlocked = false;
    }

    /** Returns whether nothing is in flight although there are requests. */
    public boolean isIdleWithWork() {
        return inFlight.isEmpty() && engine.numToServe() > 0;
    }

    /**
     * Opens the conversation with the KV cache about the next step, if {@link #canPlan()} holds and there is work.
     *
     * @return whether it has
     */
    public boolean beginPlan(long atNanos) {
        if (!canPlan()) {
            return false;
        }
        if (!engine.hasWork()) {
            isBlocked = true;
            return false;
        }
        isPlanning = true;
        isWoken = false;
        engine.begin(atNanos);
        return true;
    }

    /**
     * Closes the conversation; a plan that is not empty counts as in flight from now on.
     *
     * <p>A plan may be empty although there is work: a request that preempts itself ends the loop over the running
     * ones, and waiting ones are not looked at after a preemption; or decodes wait for their next turn in a pipeline,
     * which is counted in plans. Then {@link #canPlan()} holds, and the next plan goes on.
     *
     * @throws IllegalStateException if work conservation is broken; see {@link Engine#parks}
     */
    public StepPlan endPlan(long atNanos) {
        isPlanning = false;
        var plan = engine.plan();
        if (!plan.isEmpty()) {
            inFlight.add(plan);
        } else if (!inFlight.isEmpty()) {
            isBlocked = true;
        } else {
            isParked = engine.parks(plan, isWoken);
        }
        for (var request = arrivedMeanwhile.poll(); request != null; request = arrivedMeanwhile.poll()) {
            engine.add(request, atNanos);
        }
        if (inFlight.isEmpty()) {
            applyArrivals();
        }
        return plan;
    }

    /** Returns the oldest step in flight. */
    public StepPlan oldestInFlight() {
        return inFlight.element();
    }

    /** Applies the result of the oldest step in flight, which ran until {@code atNanos} on a device without drafts. */
    public StepResult update(long atNanos) {
        return update(atNanos, DraftOutput.NONE);
    }

    /** Applies the result of the oldest step in flight, which ran until {@code atNanos}. */
    public StepResult update(long atNanos, DraftOutput output) {
        if (isPlanning) {
            throw new IllegalStateException("a step ended while another one was being planned");
        }
        isBlocked = false;
        var result = engine.update(inFlight.remove(), atNanos, output);
        applyArrivals();
        return result;
    }

    /**
     * Records that the KV of these requests has come, or will not come, and that blocks may be free. The engine learns
     * of it with the result of the oldest step in flight, or at once if none is.
     */
    public void onKvArrived(LongList requestIds) {
        arrivedKv.addAll(requestIds);
        wake();
        if (inFlight.isEmpty() && !isPlanning) {
            applyArrivals();
        }
    }

    /** Forgets that KV has come for a request, since that is taken out of the engine; another one may get its id. */
    public void onTakenOut(long requestId) {
        arrivedKv.rem(requestId);
    }

    /**
     * Takes a request back, when {@link #onKvArrived} for it takes effect, to the tokens before its first invalid block.
     *
     * @param invalid blocks that could not be loaded
     * @param table all blocks of the request
     */
    public void onLoadFailed(long requestId, IntList invalid, IntList table) {
        failedLoads.add(new FailedLoad(requestId, invalid, table));
    }

    private record FailedLoad(long requestId, IntList invalid, IntList table) {}

    private void applyArrivals() {
        for (var failed : failedLoads) {
            engine.onLoadFailed(failed.requestId, failed.invalid, failed.table);
        }
        failedLoads.clear();
        for (int i = 0; i < arrivedKv.size(); i++) {
            engine.onKvArrived(arrivedKv.getLong(i));
        }
        arrivedKv.clear();
    }
}
