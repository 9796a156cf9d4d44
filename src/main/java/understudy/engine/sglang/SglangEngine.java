package understudy.engine.sglang;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.RankRules;
import understudy.engine.Request;
import understudy.engine.RequestTable;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.lora.AdapterUse;
import understudy.engine.speculation.DraftOutput;
import understudy.figure.OwnFigure;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;

/**
 * SGLang's scheduler as an engine: a turn is a step. With overlapping results two steps are in flight, so that the plan of
 * one is made when the result of the one before the last is known, as in {@code event_loop_overlap}.
 *
 * <p>A request that its sender gives up while it runs ends with its next token, as in SGLang; until then it keeps its
 * handle and its pages, though others see it no more.
 */
public final class SglangEngine implements Engine, EngineLoad {
    /** The state is another one than after the last empty plan. */
    private static final long CHANGED = -1;

    private static final int[] NO_DRAFTS = new int[0];

    private final SglangConfig config;
    private final SglangScheduler scheduler;
    private final RequestTable<SglangRequest> all;
    private final SglangStep[] steps;
    private final StepResult result;
    private final List<GivenUp> givenUp = new ArrayList<>();
    private final SglangScheduler.Sampled onSampled = this::onSampled;
    private SglangStep step;
    private long numSteps;
    private long nowNanos;
    private long resultNanos;
    private boolean isIdle = true;
    private boolean hasVerified;
    private boolean admitsNone;
    private final List<SglangRequest> lost = new ArrayList<>();
    private final SglangCounts counts = new SglangCounts();

    /** What it says to engines with the other role, or null if it has none, or if its peers are a script. */
    private final @Nullable RoleTalk talk;

    private final StepResult early;
    private boolean hasEarly;

    /** Changes of the memory that are left from the end of the turn before, to be told before anything is asked. */
    private @Nullable RadixAsk ofLastTurn;

    /** Turn that is planned, while it is still said what that means to other engines. */
    private @Nullable SglangPlan turn;

    /** State after the last plan that was empty, by which it is seen whether anything changes. */
    private long emptyState = CHANGED;

    /** Empty plans in a row that have changed nothing. */
    private int numSame;

    /** Creates an engine without requests. */
    public SglangEngine(SglangConfig config) {
        this(config, config.disaggregation() == null ? SglangEngine::options : SglangEngine::sharedOptions, true);
    }

    /**
     * Creates an engine without requests.
     *
     * @param options returns the options of a request that only SGLang has
     */
    public SglangEngine(SglangConfig config, Function<Request, SglangRequest.Options> options) {
        this(config, options, false);
    }

    private SglangEngine(SglangConfig config, Function<Request, SglangRequest.Options> options, boolean talks) {
        this.config = config;
        scheduler = SglangScheduler.create(config);
        talk = talks && scheduler instanceof RoleScheduler role ? new RoleTalk(role) : null;
        early = new StepResult(0, false);
        var verification = config.verification();
        result = new StepResult(verification == null ? 0 : verification.numSteps(), false);
        all = new RequestTable<>((request, handle, queuedNanos) ->
                new SglangRequest(config, request, options.apply(request), handle, queuedNanos));
        steps = IntStream.rangeClosed(0, config.overlaps() ? 2 : 1)
                .mapToObj(i -> new SglangStep())
                .toArray(SglangStep[]::new);
        step = steps[0];
    }

    private static SglangRequest.Options options(Request request) {
        return options(request, null);
    }

    private static SglangRequest.Options sharedOptions(Request request) {
        return options(request, new RunPeer());
    }

    private static SglangRequest.Options options(Request request, @Nullable Peer peer) {
        return new SglangRequest.Options(
                request.hasPriority() ? (long) request.priority() : null, request.tenant(), peer);
    }

    /** Returns the scheduler, to look at. */
    public SglangScheduler scheduler() {
        return scheduler;
    }

    @Override
    public EngineLoad load() {
        return this;
    }

    @Override
    public EngineRequest add(Request request, long atNanos) {
        var added = all.add(request, atNanos);
        added.waitsSinceNanos = atNanos;
        if (talk != null && request.kvTransfer() == null) {
            giveUp(added, "This engine has a role, and serves requests only together with another engine.");
            return added;
        }
        var least = scheduler.whoMakesWay(added);
        if (least != null) {
            scheduler.abort(least);
            turnAway(least, least != added);
        }
        if (least != added) {
            scheduler.add(added);
            isIdle = false;
            if (talk != null) {
                onShared(talk, added);
            }
        }
        return added;
    }

    /** What another engine computes, is nothing that is to be computed here. */
    private static void onShared(RoleTalk talk, SglangRequest added) {
        talk.onQueued(added);
        if (!talk.isPrefill()) {
            added.numComputedTokens = added.numPromptTokens();
        }
    }

    /** Gives up a request because too many wait: a new one, or a less important one ({@code _abort_on_queued_limit}). */
    private void turnAway(SglangRequest request, boolean isForOther) {
        giveUp(
                request,
                isForOther ? "The request is aborted by a higher priority request." : "The request queue is full.");
    }

    private void giveUp(SglangRequest request, String reason) {
        if (!request.isGivenUp) {
            request.isGivenUp = true;
            givenUp.add(new GivenUp(request, true, reason));
        }
        all.remove(request);
    }

    /** Gives up the requests that have waited too long. */
    private void expire() {
        long timeout = config.queue().timeoutNanos();
        for (int i = scheduler.waiting().size() - 1; i >= 0 && timeout > 0; i--) {
            var request = scheduler.waiting().get(i);
            if (nowNanos - request.waitsSinceNanos > timeout) {
                scheduler.abort(request);
                giveUp(request, "Request waiting timeout reached.");
            }
        }
    }

    @Override
    public @Nullable SglangRequest find(long requestId) {
        var request = all.find(requestId);
        return request == null || request.isGivenUp ? null : request;
    }

    @Override
    public void begin(long atNanos) {
        nowNanos = atNanos;
        expire();
        scheduler.setNow(atNanos);
        if (talk != null) {
            var settlement = scheduler.endTurn();
            ofLastTurn = settlement.isEmpty() ? null : settlement;
            talk.onSent();
            talk.onBegun();
        }
        turn = null;
        scheduler.begin();
    }

    @Override
    public @Nullable KvAsk next() {
        if (talk == null) {
            return scheduler.next();
        }
        var ask = ofLastTurn != null ? ofLastTurn : scheduler.next();
        ofLastTurn = null;
        if (ask != null || turn != null) {
            return ask;
        }
        turn = scheduler.plan();
        talk.onSent();
        return talk.take();
    }

    @Override
    public void answer(KvAnswer answer) {
        scheduler.answer((RadixAnswer) answer);
    }

    @Override
    public StepPlan plan() {
        var planned = turn != null ? turn : scheduler.plan();
        step = steps[(int) (++numSteps % steps.length)];
        step.begin(numSteps);
        counts.onGivenWay(planned);
        planned.retracted().forEach(this::onPreempted);
        planned.preempted().forEach(this::onPreempted);
        planned.lost().forEach(this::onLost);
        planned.outOfMemory().forEach(this::onOutOfMemory);
        planned.turnedAway().forEach(each -> turnAway(each.request(), each.isForOther()));
        var chunk = scheduler.takeAbortedChunk();
        if (chunk != null) {
            all.remove(chunk);
        }
        if (talk != null) {
            takeOver(talk, planned);
        }
        var batch = planned.batch();
        if (batch != null) {
            schedule(batch);
            counts.onBatch(planned, scheduler.newTokenRatio());
            step.setLoadNanos(planned.loadNanos);
        }
        return step;
    }

    /** Takes over what has come from another engine, and what has gone there. */
    private void takeOver(RoleTalk said, SglangPlan planned) {
        early.begin(numSteps, nowNanos);
        hasEarly = false;
        planned.preallocated().forEach(request -> request.onPlaced(nowNanos, numSteps));
        planned.resumed().forEach(request -> {
            request.numComputedTokens = request.end;
            request.isSeated = true;
        });
        planned.prebuilt().forEach(this::tellFirstToken);
        for (var request : planned.transferred()) {
            if (request.hasUntoldToken) {
                // It has the token, but no seat; its sender is told later, when it has one.
                request.onTokens(1, nowNanos);
            }
        }
        said.takeEnded().forEach(this::onEndedOutside);
    }

    private void tellFirstToken(SglangRequest request) {
        if (request.hasUntoldToken) {
            request.hasUntoldToken = false;
            long gap = request.onTokens(1, nowNanos);
            if (gap >= 0) {
                early.addGap(gap);
            }
            early.addSampled(request, 1);
            hasEarly = true;
        }
    }

    private void onEndedOutside(SglangRequest request) {
        if (!request.isGivenUp && request.hasFailed()) {
            givenUp.add(new GivenUp(request, false, "The KV transfer has failed."));
        } else if (!request.isGivenUp) {
            if (isPrefillRole()) {
                early.addSampled(request, 1);
            }
            early.addFinished(request);
            hasEarly = true;
        }
        all.remove(request);
    }

    private boolean isPrefillRole() {
        return talk != null && talk.isPrefill();
    }

    @Override
    public @Nullable StepResult takeEarly() {
        boolean isThere = hasEarly;
        hasEarly = false;
        return isThere ? early : null;
    }

    @Override
    public void onKvArrived(long requestId) {
        var request = find(requestId);
        if (request != null && request.peer instanceof RunPeer peer) {
            peer.hear();
        }
    }

    private void onPreempted(SglangRequest request) {
        request.onPreempted();
        request.waitsSinceNanos = nowNanos;
        step.preempt(request);
    }

    private void onLost(SglangRequest request) {
        if (request.isGivenUp) {
            all.remove(request);
        } else {
            lost.add(request);
            counts.onLost();
        }
    }

    private void onOutOfMemory(SglangRequest request) {
        step.preempt(request);
        request.onPreempted();
        if (!request.isGivenUp) {
            givenUp.add(new GivenUp(
                    request,
                    false,
                    "Out of memory even after retracting all other requests in the decode batch. Aborting the last"
                            + " request."));
        }
        all.remove(request);
    }

    private void schedule(SglangBatch batch) {
        step.batch = batch;
        emptyState = CHANGED;
        step.setKind(batch.mode().word());
        var chunked = batch.chunked;
        var verification = batch.mode() == SglangBatch.Mode.DECODE ? config.verification() : null;
        for (int i = 0; i < batch.size(); i++) {
            var request = batch.request(i);
            int numTokens = verification != null ? verification.numDraftTokens() : batch.numTokens(i);
            if (i < batch.numPrefills()) {
                request.numComputedTokens = batch.numPrefixTokens(i);
                if (!request.isSeated) {
                    admit(request);
                }
            }
            int context = request.numComputedTokens;
            step.schedule(request, numTokens);
            request.onScheduled(verification != null ? 0 : numTokens, numSteps);
            if (config.verification() != null) {
                step.setDrafts(i, verification == null ? 0 : verification.numSteps());
            }
            step.settle(i, context, request == chunked);
        }
    }

    private void admit(SglangRequest request) {
        boolean isFirst = request.lastStep() == 0;
        request.isSeated = true;
        step.admit(request, !isFirst);
        if (isFirst) {
            boolean isCaching = !config.memory().disableRadixCache();
            request.onAdmitted(Math.min(request.numComputedTokens, request.numPromptTokens()), isCaching, nowNanos);
        }
    }

    @Override
    public StepResult update(StepPlan executed, long atNanos, DraftOutput output) {
        result.begin(executed.step(), atNanos);
        resultNanos = atNanos;
        var batch = Objects.requireNonNull(((SglangStep) executed).batch);
        hasVerified = config.verification() != null && batch.mode() == SglangBatch.Mode.DECODE;
        var settlement = scheduler.update(batch, numAccepted(batch, output), onSampled);
        if (!settlement.isEmpty()) {
            result.settlement().setOwn(settlement);
        }
        return result;
    }

    /** Returns how many tokens the verification of each draft gives, the target's own one included. */
    private static int[] numAccepted(SglangBatch batch, DraftOutput output) {
        if (output.accepted().isEmpty() || batch.mode() != SglangBatch.Mode.DECODE) {
            return NO_DRAFTS;
        }
        var counts = output.accepted().toIntArray();
        for (int i = 0; i < counts.length; i++) {
            counts[i]++;
        }
        return counts;
    }

    private void onSampled(SglangRequest request, int numSampled) {
        if (isPrefillRole()) {
            // Its sender gets the token with the end, when the KV has arrived.
            request.onTokens(numSampled, resultNanos);
            return;
        }
        int count = hasVerified && request.isFinished ? request.cutAnswer() : numSampled;
        var verification = config.verification();
        if (hasVerified && verification != null) {
            result.drafts().add(verification.numSteps(), numSampled - 1);
            request.numComputedTokens += count;
        }
        if (!request.isGivenUp) {
            long gap = request.onTokens(count, resultNanos);
            if (gap >= 0) {
                result.addGap(gap);
            }
            result.addSampled(request, count);
            if (request.isFinished) {
                result.addFinished(request);
            }
        }
        if (request.isFinished) {
            all.remove(request);
        }
    }

    @Override
    public @Nullable EngineRequest abort(long requestId) {
        var request = find(requestId);
        if (request == null) {
            return null;
        }
        request.isGivenUp = true;
        boolean isGone = scheduler.abort(request) || lost.remove(request);
        if (isGone) {
            all.remove(request);
        } else if (talk != null) {
            // The other engine gives it up, too, and may send the same request again before this one has let go of it.
            request.requirePeer().abort();
            all.hide(request);
        }
        return request;
    }

    @Override
    public List<GivenUp> takeGivenUp() {
        if (givenUp.isEmpty()) {
            return List.of();
        }
        var taken = List.copyOf(givenUp);
        givenUp.clear();
        return taken;
    }

    /** Returns the requests that were preempted for one that was then refused, unless that is mended. */
    @Override
    public List<EngineRequest> lost() {
        return List.copyOf(lost);
    }

    @Override
    public String whyLost() {
        return "the engine has preempted it for another one, and put it into no queue";
    }

    @Override
    public void setAdmitsNone(boolean none) {
        admitsNone = none;
        scheduler.setAdmitsNone(none);
    }

    /** Returns the number of requests in queues and batches; those that were lost are in none. */
    @Override
    public int numToServe() {
        return all.size() - lost.size() - (admitsNone ? numWaiting() : 0);
    }

    /** There is a turn more after the last request has ended, in which the scheduler finds out that it is idle. */
    @Override
    public boolean hasWork() {
        return numToServe() > 0 || !isIdle;
    }

    /**
     * An empty turn may follow from one in which all that ran have ended or were retracted, since the flag that stops
     * admissions is taken back there. The law is broken if such a turn changes nothing: then no later one does, unless
     * another engine is waited for, or the storage behind the host.
     */
    @Override
    public boolean parks(StepPlan empty, boolean isWoken) {
        scheduler.onIdle(false);
        isIdle = numToServe() == 0;
        long state = scheduler.stateNumber();
        boolean isSame = state == emptyState
                && !isWoken
                && !scheduler.putsOffPrefills()
                && empty.preempted().isEmpty();
        emptyState = state;
        numSame = isSame ? numSame + 1 : 0;
        if (isIdle || numSame < scheduler.pollingInterval()) {
            return false;
        }
        numSame = 0;
        if (!scheduler.awaitsFetch() && (talk == null || !talk.awaitsPeer())) {
            throw idleWithWork();
        }
        return true;
    }

    @Override
    public RankRules.Word wordToRanks() {
        return scheduler.rankState();
    }

    @Override
    public void onAgreed(RankRules.Turn agreed) {
        scheduler.setAgreed(agreed);
    }

    @Override
    public int numUnfinished() {
        return all.size();
    }

    @Override
    public int numRunning() {
        return scheduler.numSeated();
    }

    @Override
    public EngineRequest running(int index) {
        return scheduler.seated().get(index);
    }

    @Override
    public int numWaiting() {
        return scheduler.numWaiting();
    }

    @Override
    public AdapterUse adapterUse() {
        return config.maxLorasPerBatch() == 0
                ? AdapterUse.NONE
                : new AdapterUse(
                        config.maxLorasPerBatch(), adapters(scheduler.seated()), adapters(scheduler.waiting()));
    }

    private static List<String> adapters(List<SglangRequest> requests) {
        return requests.stream()
                .map(request -> request.request().prompt().loraName())
                .filter(name -> !name.isEmpty())
                .distinct()
                .sorted()
                .toList();
    }

    @Override
    public List<OwnFigure> queues() {
        return SglangCounts.queues(scheduler);
    }

    @Override
    public OwnFigures ownFigures() {
        return counts.figures();
    }

    @Override
    public OwnFigures course() {
        return SglangCounts.course(scheduler.newTokenRatio(), scheduler.tree());
    }

    @Override
    public long pendingPrefillTokens() {
        return all.pendingPrefillTokens();
    }
}
