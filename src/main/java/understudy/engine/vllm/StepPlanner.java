package understudy.engine.vllm;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineRequest;
import understudy.engine.Request;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.lora.Adapters;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.vllm.queue.PrefillThrottle;
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCacheConfig;

/**
 * The scheduler of vLLM V1 ({@code v1/core/sched/scheduler.py}) as a state machine.
 *
 * <p>Running requests are reserved for in one go, as if all were granted; a refusal takes the plan back to the refused
 * request, where a victim is chosen.
 */
public final class StepPlanner implements Engine {
    private enum Phase {
        RUNNING,
        MATCHING,
        WAITING,
        ENDING,
        OVER
    }

    private final SchedulerConfig config;
    private final int blockSize;
    private final KvCacheConfig kvCache;
    private final RequestBook requests;
    private final WaitingQueues<VllmRequest> waiting;
    private final RunningList running;
    private final DecodeCohort cohort;
    private final PreemptionVictim preemptionVictim;
    private final KvLoads loads;
    private final Drafts drafts;
    private final PrefillThrottle throttle;
    private final ReservationDraft draft = new ReservationDraft();
    private final ArrayDeque<VllmRequest> toRelease = new ArrayDeque<>();
    private final ArrayDeque<VllmPlan> unusedPlans = new ArrayDeque<>();

    private VllmPlan plan = new VllmPlan();
    private Phase phase = Phase.OVER;
    private int cursor;
    private int numInFlight;

    /** Blocks that are free in any case; what ends or is preempted may free more. */
    private int numFreeBlocks;

    /** Slots behind its tokens that the candidate was to get. */
    private int numLookaheadTokens;

    private long numSteps;
    private long nowNanos;
    private @Nullable VllmRequest candidate;

    /** Creates a scheduler without requests. */
    public StepPlanner(SchedulerConfig config, KvCacheConfig kvCache) {
        this.config = config;
        this.kvCache = kvCache;
        blockSize = kvCache.growthUnit();
        requests = new RequestBook(kvCache, config);
        waiting = requests.waiting;
        running = requests.running;
        cohort = requests.cohort;
        loads = requests.loads;
        drafts = requests.drafts;
        throttle = new PrefillThrottle(config.prefillScheduleInterval());
        preemptionVictim = config.preemptionVictim().orDefaultOf(config.policy());
    }

    /** Returns the requests that have not ended. */
    public RequestBook requests() {
        return requests;
    }

    @Override
    public RequestBook load() {
        return requests;
    }

    @Override
    public VllmRequest add(Request request, long atNanos) {
        return requests.add(request, atNanos);
    }

    @Override
    public @Nullable VllmRequest find(long requestId) {
        return requests.find(requestId);
    }

    @Override
    public @Nullable VllmRequest abort(long requestId) {
        return requests.abort(requestId);
    }

    @Override
    public void setAdmitsNone(boolean admitsNone) {
        requests.setAdmitsNone(admitsNone);
    }

    @Override
    public int numToServe() {
        return requests.numToServe();
    }

    @Override
    public boolean hasWork() {
        return requests.hasWork();
    }

    /**
     * A plan may be empty although there is work: a request that preempts itself ends the loop over the running ones, and
     * waiting ones are not looked at after a preemption; or decodes wait for their next turn in a pipeline, which is
     * counted in plans; or all wait for KV from elsewhere.
     */
    @Override
    public boolean parks(StepPlan empty, boolean isWoken) {
        if (loads.areOn()) {
            return empty.preempted().isEmpty() && !isWoken && !loads.mayGetUnstuck();
        }
        return !requests.isAnySpaced(empty.step()) && Engine.super.parks(empty, isWoken);
    }

    @Override
    public void onKvArrived(long requestId) {
        requests.onKvArrived(requestId);
    }

    @Override
    public void onLoadFailed(long requestId, IntList invalid, IntList table) {
        requests.onBlocksInvalid(
                new IntOpenHashSet(invalid),
                request -> request.id() == requestId ? table.toIntArray() : new int[0],
                new StepPlan());
    }

    @Override
    public Adapters adapters() {
        return requests.loras();
    }

    @Override
    public void begin(long atNanos) {
        plan = Objects.requireNonNullElseGet(unusedPlans.poll(), VllmPlan::new);
        plan.begin(++numSteps);
        phase = Phase.RUNNING;
        nowNanos = atNanos;
        throttle.begin(running.size() > 0, throttle.isOn() && running.isAnyDecoding());
        beginWithCohort();
    }

    /** Schedules the cohort as one, which leaves the loop over sequences those behind it. */
    private void beginWithCohort() {
        cohort.beginPlan(numInFlight, budget());
        cursor = cohort.endIndex();
        if (cohort.numScheduled() > 0) {
            plan.schedule(cohort);
            cohort.addNeedsTo(draft);
        }
    }

    @Override
    public @Nullable KvAsk next() {
        var preempted = toRelease.poll();
        if (preempted != null) {
            return new KvAsk.Release(preempted.handle(), preempted.lastStep());
        }
        // Running requests first, in list order.
        while (phase == Phase.RUNNING) {
            for (; cursor < running.size() && budget() > 0; cursor++) {
                var request = running.get(cursor);
                int numTokens = config.tokensToRun(request, numSteps, budget(), kvCache);
                if (numTokens > 0 && !throttle.defers(request.isPrefillChunk)) {
                    schedule(request, numTokens);
                }
            }
            if (draft.size() > 0) {
                return reserve();
            }
            phase = Phase.MATCHING;
        }
        if (phase == Phase.MATCHING) {
            phase = Phase.WAITING;
            requests.beginAdmissions(plan);
            if (mayAdmit() && !waiting.toMatch().isEmpty()) {
                return new KvAsk.Match(
                        waiting.toMatch().stream().map(VllmRequest::lookup).toList());
            }
        }
        // Then waiting requests, unless something was preempted.
        while (phase == Phase.WAITING && mayAdmit()) {
            var head = waiting.head();
            if (head == null) {
                break;
            }
            if (requests.isReady(head)) {
                candidate = head;
                return new KvAsk.Admit(admission(head));
            }
            waiting.skip(head);
        }
        if (loads.areOn() && phase != Phase.OVER) {
            phase = Phase.OVER;
            loads.onPlanned();
            return plan.endAsk(loads.readPlans());
        }
        finishPlan();
        return null;
    }

    /** Goes on at once, as if the answer had come, where it is known. */
    private KvAsk reserve() {
        var reservation = draft.build(plan.step());
        boolean isSure = numFreeBlocks > 0 && draft.numBlocks() <= numFreeBlocks;
        if (isSure) {
            numFreeBlocks -= draft.numBlocks();
            onReserved(draft.size());
        }
        return new KvAsk.Reserve(reservation, isSure);
    }

    @Override
    public void onMemoryResized() {
        numFreeBlocks = 0;
    }

    @Override
    public void answer(KvAnswer answer) {
        numFreeBlocks = answer.numFreeBlocks();
        if (answer instanceof KvAnswer.Reserved reserved && draft.size() > 0) {
            onReserved(reserved.numGranted());
        } else if (answer instanceof KvAnswer.Admitted admitted) {
            onAdmission(admitted.admission());
        } else if (answer instanceof KvAnswer.Matched matched) {
            waiting.onMatched(matched.numCachedTokens());
        }
    }

    private void onReserved(int numGranted) {
        boolean isRefused = numGranted < draft.size();
        if (isRefused) {
            plan.listMembers();
            cohort.dissolve();
        }
        draft.grantFirst(numGranted, blockSize);
        if (isRefused) {
            preemptFor(draft.runningIndex(numGranted, running), draft.planIndex(numGranted, plan));
        } else {
            draft.clear();
        }
    }

    private void onAdmission(Admission admission) {
        var head = Objects.requireNonNull(candidate);
        candidate = null;
        if (admission instanceof Admission.Admitted admitted) {
            waiting.pop();
            running.add(head);
            plan.admit(head, head.isPreempted());
            head.onAdmitted(admitted, numLookaheadTokens, nowNanos, blockSize);
            plan.schedule(head, admitted.numScheduledTokens());
            requests.onAdmitted(head, admitted.numScheduledTokens());
        } else if (admission instanceof Admission.Loading loading) {
            waiting.skip(head);
            head.onLoading(loading, blockSize);
            loads.beginPrefill(head);
        } else if (admission instanceof Admission.Deferred || loads.areStuck(waiting, running.size() + numInFlight)) {
            waiting.skip(head);
        } else {
            phase = Phase.ENDING; // a refusal blocks every request behind the head
        }
    }

    @Override
    public VllmPlan plan() {
        return plan;
    }

    @Override
    public StepResult update(StepPlan executed, long atNanos, DraftOutput output) {
        numInFlight -= executed.isEmpty() ? 0 : 1;
        var result = requests.update((VllmPlan) executed, atNanos, output);
        unusedPlans.add((VllmPlan) executed);
        return result;
    }

    @Override
    public void onGroupStep(long number) {
        throttle.onGroupStep(number, numInFlight - 1);
    }

    @Override
    public List<EngineRequest> preemptAll() {
        return requests.preemptAll();
    }

    private int budget() {
        return drafts.budget(config.maxNumBatchedTokens(), plan);
    }

    private boolean mayAdmit() {
        return !requests.admitsNone()
                && plan.preempted().isEmpty()
                && budget() > 0
                && running.size() < loads.maxRunning(config.maxNumSeqs());
    }

    private void schedule(VllmRequest request, int numTokens) {
        int computedAfter = request.numComputedTokens + numTokens;
        int numSlots = computedAfter + drafts.numLookaheadTokens();
        int numTokensToCache = Math.min(computedAfter, request.numTokens());
        if (numSlots > request.numSlots || numTokensToCache >= request.nextTokensToCache) {
            int numNewBlocks = request.numNewBlocks(numSlots, blockSize);
            draft.add(request, numSlots, numTokensToCache, numNewBlocks, cursor, plan.size());
        }
        plan.schedule(request, numTokens);
    }

    private AdmissionRequest admission(VllmRequest head) {
        var load = loads.stateOf(head, running.size() + numInFlight);
        var slots = drafts.slotsOf(head, !loads.wereStuck());
        numLookaheadTokens = slots.numLookaheadTokens();
        return config.admission(
                head, budget(), throttle.defersPrefills(), running.size() > 0, nowNanos, plan.step(), load, slots);
    }

    /** Preempts a victim for the refused request, and tries again with as many tokens as before. */
    private void preemptFor(int runningIndex, int planIndex) {
        var refused = running.get(runningIndex);
        int numTokens = plan.numScheduledTokens(planIndex);
        plan.truncate(planIndex);
        draft.clear();
        int victimIndex = preemptionVictim.indexIn(running);
        var victim = running.remove(victimIndex);
        plan.unschedule(victim);
        plan.preempt(victim);
        victim.onPreempted();
        loads.onPreempted(victim);
        toRelease.add(victim);
        waiting.prepend(victim);
        if (victim == refused) {
            phase = Phase.ENDING;
            loads.onSelfPreempted(plan.totalScheduledTokens());
            return;
        }
        cursor = victimIndex < runningIndex ? runningIndex - 1 : runningIndex;
        schedule(refused, numTokens);
        cursor++;
    }

    private void finishPlan() {
        throttle.endAdmissions(plan.preempted().isEmpty(), waiting.isAnyWaiting());
        waiting.endStep();
        if (!plan.isEmpty()) {
            numInFlight++;
            throttle.onPlanned();
            loads.onWork();
        }
        requests.settle(plan);
    }
}
