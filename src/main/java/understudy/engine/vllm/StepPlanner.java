package understudy.engine.vllm;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.AdmissionRequestBuilder;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;

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
    private final BlockCacheSpec kvCache;
    private final RequestBook requests;
    private final WaitingQueues<VllmRequest> waiting;
    private final RunningList running;
    private final DecodeCohort cohort;
    private final PreemptionVictim preemptionVictim;
    private final StepRule[] rules;
    private final KvLoads loads;
    private final Drafts drafts;
    private final AdmissionDraft question = new AdmissionDraft();
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

    /** Cap on the tokens of one request in the plan, or 0 for none. */
    private int longPrefillTokenThreshold;

    private long numSteps;
    private long nowNanos;
    private @Nullable VllmRequest candidate;

    /** Creates a scheduler without requests. */
    public StepPlanner(SchedulerConfig config, BlockCacheSpec kvCache) {
        this.config = config;
        this.kvCache = kvCache;
        blockSize = kvCache.growthUnit();
        requests = new RequestBook(kvCache, config);
        waiting = requests.waiting;
        running = requests.running;
        cohort = requests.cohort;
        rules = requests.rules.on;
        loads = requests.rules.loads;
        drafts = requests.rules.drafts;
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
        if (isStuck()) {
            return !isWoken;
        }
        if (loads.areOn()) {
            return empty.preempted().isEmpty() && !isWoken && !loads.mayGetUnstuck();
        }
        for (var rule : rules) {
            if (rule.mayIdle(running, empty.step())) {
                return false;
            }
        }
        return Engine.super.parks(empty, isWoken);
    }

    /** Returns whether nothing runs, and nothing will. */
    private boolean isStuck() {
        for (var rule : rules) {
            if (rule.hasStopped()) {
                return running.size() == 0;
            }
        }
        return false;
    }

    @Override
    public List<EngineRequest> lost() {
        var lost = new ArrayList<EngineRequest>();
        if (isStuck()) {
            lost.addAll(requests.skipped());
            lost.addAll(requests.waiting());
        }
        return lost;
    }

    @Override
    public String whyLost() {
        return "the scheduler admits no request any more";
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
        longPrefillTokenThreshold =
                config.longPrefills().tokens(running.size() + waiting.size(), config.maxNumBatchedTokens());
        for (var rule : rules) {
            rule.begin(running, waiting);
        }
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
                int numTokens = tokensToRun(request);
                if (numTokens > 0) {
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
            for (var rule : rules) {
                rule.beginAdmissions(plan);
            }
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
        if (phase != Phase.OVER) {
            phase = Phase.OVER;
            for (var rule : rules) {
                var last = rule.endAsk(plan);
                if (last != null) {
                    return last;
                }
            }
        }
        finishPlan();
        return null;
    }

    /** Returns how many tokens a running request may compute now; 0 passes over it without ending the loop. */
    private int tokensToRun(VllmRequest request) {
        int computed = request.numComputedTokens;
        int placeholders = request.numPlaceholders;
        if (placeholders > 0 && computed + 2 - placeholders >= request.maxTotalTokens()) {
            return 0; // the step in flight certainly reaches max_tokens
        }
        int missing = request.numTokens() + drafts.numDrafts(request) + placeholders - computed;
        int threshold = longPrefillTokenThreshold;
        int limited = threshold > 0 ? Math.min(missing, threshold) : missing;
        int numTokens = Math.min(Math.min(limited, budget()), kvCache.maxModelLen() - computed - 1);
        for (var rule : rules) {
            numTokens = rule.limit(request, numTokens, numSteps);
        }
        return numTokens;
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
            for (var rule : rules) {
                rule.onAdmitted(head, admitted);
            }
        } else if (admission instanceof Admission.Loading loading) {
            waiting.skip(head);
            head.onLoading(loading, blockSize);
            for (var rule : rules) {
                rule.onLoading(head);
            }
        } else if (admission instanceof Admission.Deferred || passesRefused()) {
            waiting.skip(head);
        } else {
            phase = Phase.ENDING; // a refusal blocks every request behind the head
        }
    }

    private boolean passesRefused() {
        for (var rule : rules) {
            if (rule.passesRefused(waiting, running.size() + numInFlight)) {
                return true;
            }
        }
        return false;
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
        for (var rule : rules) {
            rule.onGroupStep(number, numInFlight - 1);
        }
    }

    @Override
    public List<EngineRequest> preemptAll() {
        return requests.preemptAll();
    }

    private int budget() {
        return drafts.budget(config.maxNumBatchedTokens(), plan);
    }

    private boolean mayAdmit() {
        return !requests.admitsNone() && plan.preempted().isEmpty() && budget() > 0 && running.size() < maxRunning();
    }

    private int maxRunning() {
        int max = config.maxNumRunning();
        for (var rule : rules) {
            max = rule.maxRunning(max);
        }
        return max;
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
        question.clear();
        for (var rule : rules) {
            rule.ask(question, head, running.size() + numInFlight);
        }
        numLookaheadTokens = question.drafts.numLookaheadTokens();
        return AdmissionRequestBuilder.builder()
                .lookup(head.lookup())
                .maxTokensNow(budget())
                .longPrefillTokenThreshold(longPrefillTokenThreshold)
                .enableChunkedPrefill(config.enableChunkedPrefill())
                .defersPrefills(question.defersPrefills)
                .reserveFullSequence(config.reserveFullSequence())
                .isAnythingRunning(running.size() > 0)
                .atNanos(nowNanos)
                .isResumed(head.isPreempted())
                .maxTotalTokens(head.maxTotalTokens())
                .load(question.load)
                .drafts(question.drafts)
                .step(plan.step())
                .build();
    }

    /** Preempts a victim for the refused request, and tries again with as many tokens as before. */
    private void preemptFor(int runningIndex, int planIndex) {
        var refused = running.get(runningIndex);
        int numTokens = plan.numScheduledTokens(planIndex);
        plan.truncate(planIndex);
        draft.clear();
        int victimIndex = preemptionVictim.indexIn(running);
        var victim = running.remove(victimIndex);
        boolean wasScheduled = plan.unschedule(victim);
        plan.preempt(victim);
        victim.onPreempted();
        for (var rule : rules) {
            rule.onPreempted(victim);
        }
        toRelease.add(victim);
        waiting.prepend(victim);
        if (victim == refused) {
            phase = Phase.ENDING;
            for (var rule : rules) {
                rule.onSelfPreempted(plan.totalScheduledTokens());
            }
            return;
        }
        boolean isInFront = victimIndex < runningIndex;
        cursor = isInFront ? runningIndex - 1 : runningIndex;
        schedule(refused, numTokens);
        cursor++;
        for (var rule : rules) {
            cursor = rule.next(cursor, isInFront && !wasScheduled);
        }
    }

    private void finishPlan() {
        if (config.countsResumedAsNew()) {
            plan.countResumedAsNew();
        }
        requests.settle(plan);
        for (var rule : rules) {
            rule.endPlan(plan, waiting);
        }
        waiting.endStep();
        numInFlight += plan.isEmpty() ? 0 : 1;
    }
}
