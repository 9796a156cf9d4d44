package understudy.engine.sglang;

import it.unimi.dsi.fastutil.ints.IntArrayFIFOQueue;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import understudy.engine.RankRules;
import understudy.kvcache.radix.PrefixOrder;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixAsk;
import understudy.kvcache.radix.RadixSettlement;
import understudy.kvcache.radix.TreeSize;

/**
 * SGLang's scheduler as a state machine ({@code managers/scheduler.py}): queues, batches, rows of the request table, and
 * the ratio of new tokens. The tree and the pages are the memory's, which it asks:
 *
 * <pre>{@code
 * engine.begin();
 * for (var ask = engine.next(); ask != null; ask = engine.next()) {
 *     engine.answer(memory.answer(ask));
 * }
 * var plan = engine.plan();
 * }</pre>
 *
 * <p>A turn is a plan, and then the result of one batch: of that of this turn, or where results overlap with the next
 * plan, of the one before.
 */
public class SglangScheduler {
    final SglangConfig config;
    final SglangPlan plan = new SglangPlan();
    final ObjectArrayList<SglangRequest> waiting = new ObjectArrayList<>();
    final RadixSettlement.Builder settlement = new RadixSettlement.Builder();
    final IntArrayFIFOQueue slots = new IntArrayFIFOQueue();

    /** Requests that decode ({@code running_batch}). */
    ObjectArrayList<SglangRequest> running = new ObjectArrayList<>();

    /** Flag of {@link #running} ({@code batch_is_full}). */
    boolean isFull;

    /** Number of the forward in which {@link #running} ran last. */
    long runningForward;

    /** Batch of the turn before, and what is left of its requests. */
    @Nullable SglangBatch last;

    ObjectArrayList<SglangRequest> lastRequests = new ObjectArrayList<>();

    /** The only request whose prefill is unfinished ({@code chunked_req}). */
    @Nullable SglangRequest chunked;

    /** Whether it was given up since the last turn. */
    boolean isChunkAborted;

    private @Nullable SglangRequest endedChunk;

    double newTokenRatio;

    /** Size of the tree at the last attempt to prefill or to decode. */
    private TreeSize tree = TreeSize.NOTHING;

    /** Share of the tokens that were in use then. */
    private double tokenUsage;

    private final ArrayDeque<RadixAsk> asks = new ArrayDeque<>();
    private final SplittableRandom random;
    private final int numSlots;
    private final @Nullable PrefillDelayer delayer;

    /** Turns in which no prefill is tried still ({@code _prefill_decode_interval_remaining}). */
    private int numDeferredTurns;

    /** Requests that have come to the queue since the last turn, if there is a storage behind the host. */
    private final ObjectArrayList<SglangRequest> arrivals = new ObjectArrayList<>();

    /** Handles of requests that have left it by other ways than a prefill. */
    private final IntArrayList left = new IntArrayList();

    /** Whether a request was passed over in this turn whose KV is being fetched. */
    private boolean awaitsFetch;

    /** What the ranks have agreed on for this turn, or null if there are no others. */
    private RankRules.@Nullable Turn agreed;

    private boolean putsOffPrefills;
    private ObjectArrayList<SglangRequest> queue = new ObjectArrayList<>();
    private boolean admitsNone;
    private long numEntries;
    private long numForwards;
    private long nowNanos;

    /** Creates a scheduler without requests. */
    public SglangScheduler(SglangConfig config) {
        this.config = config;
        var role = config.disaggregation();
        int numExtraSlots = role != null && !role.isPrefill() ? role.decodeExtraSlots() : 0;
        numSlots = config.maxRunningRequests() + numExtraSlots;
        for (int slot = 1; slot <= numSlots; slot++) {
            slots.enqueue(slot);
        }
        newTokenRatio = config.initNewTokenRatio();
        var delay = config.prefillDelay();
        delayer = delay == null ? null : new PrefillDelayer(delay, config.maxRunningRequests());
        random = seeded(config.seed());
    }

    public final SglangConfig config() {
        return config;
    }

    /** Creates a scheduler for a role of disaggregation, or for both. */
    public static SglangScheduler create(SglangConfig config) {
        var role = config.disaggregation();
        if (role == null) {
            return new SglangScheduler(config);
        }
        return role.isPrefill() ? new PrefillRoleScheduler(config, role) : new DecodeRoleScheduler(config, role);
    }

    private static SplittableRandom seeded(long seed) {
        return new SplittableRandom(seed);
    }

    /** Sets how late it is, for the copies to and from the host. */
    final void setNow(long atNanos) {
        nowNanos = atNanos;
    }

    /** Queues a request. */
    public final void add(SglangRequest request) {
        arrive(request);
    }

    /** Sets whether those that wait go on waiting. */
    final void setAdmitsNone(boolean none) {
        admitsNone = none;
    }

    void arrive(SglangRequest request) {
        enqueue(request);
    }

    final void enqueue(SglangRequest request) {
        waiting.add(request);
        request.entry = ++numEntries;
        if (config.memory().hasStorage()) {
            arrivals.add(request);
        }
    }

    /** Queues a request that was retracted or preempted, as far as there is room ({@code _add_request_to_queue}). */
    void requeue(SglangRequest request) {
        var least = config.disaggregation() == null ? whoMakesWay(request) : null;
        if (least != null) {
            plan.turnedAway.add(new SglangPlan.TurnedAway(least, least != request));
            leaveQueue(least);
        }
        if (least != request) {
            enqueue(request);
        }
    }

    /**
     * Gives up a request, between two turns. One that waits is gone at once; one that runs ends with its next token, and
     * one whose prefill goes on with the next plan.
     *
     * @return whether it is gone
     */
    public boolean abort(SglangRequest request) {
        if (request == chunked) {
            isChunkAborted = true;
        }
        boolean isGone = leaveQueue(request);
        if (!request.isFinished && (running.contains(request) || lastRequests.contains(request))) {
            request.isAborting = true;
        }
        return isGone;
    }

    /** Takes a request out of the queue that will not be prefilled; returns whether it was there. */
    private boolean leaveQueue(SglangRequest request) {
        boolean isGone = waiting.remove(request);
        if (isGone && config.memory().hasStorage() && !arrivals.remove(request)) {
            left.add(request.handle());
        }
        return isGone;
    }

    /** Starts to plan a turn ({@code get_next_batch_to_run}). */
    public final void begin() {
        plan.clear();
        asks.clear();
        settlement.begin();
        beginTurn();
    }

    void beginTurn() {
        awaitsFetch = false;
        if (!arrivals.isEmpty() || !left.isEmpty()) {
            asks.add(new PrefetchAsk(
                    nowNanos,
                    List.copyOf(left),
                    arrivals.stream().map(PrefetchAsk.Arrival::of).toList()));
            arrivals.clear();
            left.clear();
        }
        if (isChunkAborted) {
            endAbortedChunk(chunkedRequest());
        }
        cacheChunk();
        mergeLast();
        askSettlement();
        boolean skipsPrefills = agreed == null ? numDeferredTurns > 0 : agreed.skipsPrefills();
        putsOffPrefills = agreed == null ? skipsPrefills : agreed.putsOffPrefills();
        numDeferredTurns -= numDeferredTurns > 0 ? 1 : 0;
        if (skipsPrefills) {
            askAcknowledgement();
            askDecode();
        } else {
            askPrefill();
        }
    }

    /** Returns whether prefills were left out of this turn that there may have been room for. */
    final boolean putsOffPrefills() {
        return putsOffPrefills;
    }

    /** Sets what the next turn keeps to, as the ranks of DP attention have agreed. */
    final void setAgreed(RankRules.Turn turn) {
        agreed = turn;
    }

    /** Returns what the other ranks of DP attention are to know before the next turn. */
    final RankDelays.State rankState() {
        var delay = config.prefillDelay();
        return new RankDelays.State(
                chunked != null || isAbleToAdmit(),
                delay != null && tokenUsage < delay.lowWatermark(),
                running.size(),
                waiting.size(),
                delayer == null ? 0 : delayer.largestBatch());
    }

    /** Returns whether the next turn would try to admit a request. */
    private boolean isAbleToAdmit() {
        int numSeats = Math.min(config.maxRunningRequests() - running.size(), slots.size());
        boolean hasSeat = numSeats > 0 && (!isFull || config.memory().window() != null);
        return !waiting.isEmpty()
                && !admitsNone
                && (hasSeat || config.priorities().arePreempting());
    }

    /** Returns whether a request waits for what is fetched from the storage behind the host. */
    final boolean awaitsFetch() {
        return awaitsFetch;
    }

    final void askSettlement() {
        if (!settlement.isEmpty()) {
            asks.add(settlement.build());
            settlement.begin();
        }
    }

    /** Ends the request whose prefill goes on, since it is given up. */
    void endAbortedChunk(SglangRequest request) {
        endedChunk = request;
        request.isFinished = true;
        request.isAborting = false;
        request.hasFailed = true;
        drop(request);
        chunked = null;
        isChunkAborted = false;
    }

    final void drop(SglangRequest request) {
        settlement.drop(request.handle());
        leaveSlot(request);
    }

    final void release(SglangRequest request) {
        settlement.release(request.handle());
        leaveSlot(request);
    }

    final void leaveSlot(SglangRequest request) {
        slots.enqueue(request.slot);
        request.slot = 0;
    }

    /** Returns the request whose prefill was ended by an abort since the last call, or null if there is none. */
    final @Nullable SglangRequest takeAbortedChunk() {
        var ended = endedChunk;
        endedChunk = null;
        return ended;
    }

    /** Caches what is computed of the request whose prefill goes on. */
    private void cacheChunk() {
        var request = chunked;
        if (request != null && request.end > request.numPrefixTokens) {
            settlement.cacheChunk(request.handle());
            request.numPrefixTokens = request.end;
        }
    }

    /** Takes the requests of the last prefill to those that run. */
    private void mergeLast() {
        if (last == null || last.mode() == SglangBatch.Mode.DECODE) {
            return;
        }
        int numBefore = lastRequests.size();
        filterLast(chunked);
        if (lastRequests.size() < numBefore) {
            isFull = false;
        }
        if (lastRequests.isEmpty()) {
            return;
        }
        if (running.isEmpty()) {
            running = lastRequests;
            isFull = false;
            runningForward = last.forward;
            lastRequests = new ObjectArrayList<>();
        } else {
            running.addAll(lastRequests);
        }
    }

    /** Drops from the last batch who has ended, and whose prefill goes on. */
    final void filterLast(@Nullable SglangRequest goesOn) {
        var before = last;
        if (before != null) {
            lastRequests.removeIf(request -> request.isFinished || request == goesOn || request == before.chunked);
        }
    }

    private void askAcknowledgement() {
        if (config.memory().hierarchy() != null) {
            asks.add(new AcknowledgeAsk(nowNanos, chunked == null && !isAnyRunning()));
        }
    }

    private boolean isAnyRunning() {
        for (int i = 0; i < running.size(); i++) {
            if (!running.get(i).isFinished) {
                return true;
            }
        }
        return false;
    }

    final void askPrefill() {
        askAcknowledgement();
        boolean isPreempting = config.priorities().arePreempting();
        if (isPreempting || config.memory().window() != null) {
            isFull = false;
        }
        if ((isFull || waiting.isEmpty() || admitsNone) && chunked == null) {
            endDelay(false);
            askDecode();
            return;
        }
        int numSeats = Math.min(config.maxRunningRequests() - running.size(), slots.size());
        if (numSeats <= 0 && chunked == null && !isPreempting) {
            isFull = true;
            endDelay(false);
            askDecode();
            return;
        }
        sort();
        asks.add(prefillAsk(numSeats));
    }

    private PrefillAsk prefillAsk(int numSeats) {
        var policy = config.effectivePolicy();
        PrefixOrder.Kind order = null;
        if (policy == SchedulePolicy.DFS_WEIGHT) {
            order = PrefixOrder.Kind.DFS_WEIGHT;
        } else if (policy == SchedulePolicy.LPM && waiting.size() <= PrefillAdder.MAX_ORDERED_BY_PREFIX) {
            order = PrefixOrder.Kind.LPM;
        }
        boolean isPreempting = config.priorities().arePreempting();
        boolean hasAdapters = config.maxLorasPerBatch() > 0;
        // One more than there are seats, since it is that one who finds that there is none.
        int numTried =
                order != null || isPreempting || hasAdapters || config.memory().hasStorage()
                        ? waiting.size()
                        : Math.min(waiting.size(), Math.max(numSeats, 0) + 1);
        if (admitsNone) {
            order = null;
            numTried = 0;
        }
        queue = new ObjectArrayList<>(waiting.subList(0, numTried));
        boolean readsRunning = isPreempting || hasAdapters || config.memory().disableRadixCache() || config.isMixing();
        double offset = 0;
        for (int i = 0; i < running.size(); i++) {
            var request = running.get(i);
            offset += config.offset(request.maxNewTokens, request.numOutputTokens, newTokenRatio);
        }
        return PrefillAskBuilder.builder()
                .config(config)
                .order(order)
                .waiting(views(queue))
                .chunk(chunked == null ? null : RequestView.of(chunked))
                .running(readsRunning ? views(running) : List.of())
                .numRunning(running.size())
                .runningOffset(offset)
                .newTokenRatio(newTokenRatio)
                .numFreeSlots(slots.size())
                .isFull(isFull)
                .looksAtWindow(looksAtWindow())
                .delays(delays())
                .build();
    }

    private boolean delays() {
        return agreed == null
                ? delayer != null && delayer.delays(running.size(), waiting.size(), nowNanos)
                : agreed.delaysPrefills();
    }

    private void endDelay(boolean isDelayable) {
        if (delayer != null && agreed == null) {
            delayer.end(isDelayable, nowNanos);
        }
    }

    private static ObjectArrayList<RequestView> views(ObjectArrayList<SglangRequest> requests) {
        var views = new ObjectArrayList<RequestView>(requests.size());
        for (int i = 0; i < requests.size(); i++) {
            views.add(RequestView.of(requests.get(i)));
        }
        return views;
    }

    /**
     * Returns who makes way for a request if too many wait ({@code _abort_on_queued_limit}): it, unless one that waits is
     * strictly less important; null if there is room.
     */
    final @Nullable SglangRequest whoMakesWay(SglangRequest added) {
        int maxRequests = config.queue().maxRequests();
        if (maxRequests == 0 || waiting.size() < maxRequests) {
            return null;
        }
        var least = added;
        for (int i = 0; i < waiting.size() && config.priorities().areOn(); i++) {
            var request = waiting.get(i);
            int comparison = config.priorities().compare(request.priority, least.priority);
            if (comparison > 0 || (comparison == 0 && least != added && request.entry > least.entry)) {
                least = request;
            }
        }
        return least;
    }

    /** Sorts the waiting queue, as far as that takes no look at the tree ({@code calc_priority}). */
    private void sort() {
        var priorities = config.priorities();
        switch (config.effectivePolicy()) {
            case FCFS -> {
                if (priorities.areOn()) {
                    waiting.sort(byPriority().thenComparing(Comparator.comparingLong(request -> request.entry)));
                }
            }
            case LOF -> {
                Comparator<SglangRequest> byLength = Comparator.comparingInt(request -> -request.maxNewTokens);
                waiting.sort(priorities.areOn() ? byPriority().thenComparing(byLength) : byLength);
            }
            case RANDOM -> {
                for (int i = waiting.size() - 1; i > 0; i--) {
                    int other = random.nextInt(i + 1);
                    var request = waiting.get(i);
                    waiting.set(i, waiting.get(other));
                    waiting.set(other, request);
                }
            }
            case ROUTING_KEY -> sortByRoutingKey();
            case LPM, DFS_WEIGHT -> {
                // The memory sorts.
            }
        }
    }

    private Comparator<SglangRequest> byPriority() {
        return (a, b) -> config.priorities().compare(a.priority, b.priority);
    }

    private void sortByRoutingKey() {
        var counts = new Object2IntOpenHashMap<String>();
        for (int i = 0; i < running.size(); i++) {
            if (!running.get(i).routingKey().isEmpty()) {
                counts.addTo(running.get(i).routingKey(), 1);
            }
        }
        if (!counts.isEmpty()) {
            waiting.sort(Comparator.<SglangRequest>comparingInt(request -> -counts.getInt(request.routingKey()))
                    .thenComparing(SglangRequest::routingKey));
        }
    }

    /** Returns the next question to the memory, or null if the turn is planned. */
    public final @Nullable RadixAsk next() {
        return asks.poll();
    }

    /** Accepts the answer to the last question; that to one which does not await it may be left out. */
    public final void answer(RadixAnswer answer) {
        if (answer instanceof PrefillOutcome outcome) {
            tree = outcome.tree;
            tokenUsage = outcome.tokenUsage;
            onPrefill(outcome);
        } else if (answer instanceof DecodeAsk.Outcome outcome) {
            tree = outcome.tree();
            tokenUsage = outcome.tokenUsage();
            if (outcome.fits()) {
                newTokenRatio = Math.max(newTokenRatio - config.newTokenRatioDecay(), config.minNewTokenRatio());
                setDecodeBatch();
            } else {
                askRetraction();
            }
        } else if (answer instanceof RetractAsk.Outcome outcome) {
            onRetracted(outcome);
        } else if (answer != RadixAnswer.DONE) {
            onAnswer(answer);
        }
    }

    /** Accepts the answer to a question of a role. */
    void onAnswer(RadixAnswer answer) {
        throw new IllegalArgumentException("nobody has asked for " + answer);
    }

    final void ask(RadixAsk ask) {
        asks.add(ask);
    }

    private void onPrefill(PrefillOutcome outcome) {
        var sorted = queue;
        if (outcome.order != null) {
            sorted = new ObjectArrayList<>(queue.size());
            for (int i = 0; i < queue.size(); i++) {
                int index = outcome.order.at(i);
                queue.get(index).numPrefixTokens = outcome.order.numPrefixTokens(index);
                sorted.add(queue.get(index));
            }
            for (int i = 0; i < sorted.size(); i++) {
                waiting.set(i, sorted.get(i));
            }
        }
        isFull = outcome.isFull;
        awaitsFetch = outcome.awaitsFetch;
        endDelay(outcome.isDelayable);
        for (var trial : outcome.trials()) {
            var request = sorted.get(trial.place());
            request.numFillTokens = request.numTokens();
            request.numPrefixTokens = trial.numLoadedPrefix();
            plan.tried.add(new SglangPlan.Tried(request, trial.numPrefixTokens(), trial.hostHit(), trial.result()));
        }
        var victims = preempt(outcome);
        if (outcome.added.isEmpty()) {
            if (config.requeuesRefusedPreemption()) {
                victims.forEach(this::requeue);
            } else {
                plan.lost.addAll(victims);
            }
            askDecode();
            return;
        }
        makePrefillBatch(outcome, sorted, victims);
    }

    private ObjectArrayList<SglangRequest> preempt(PrefillOutcome outcome) {
        var victims = new ObjectArrayList<SglangRequest>(outcome.victims.size());
        if (outcome.victims.isEmpty()) {
            return victims;
        }
        for (int i = 0; i < outcome.preempted.size(); i++) {
            var request = running.get(outcome.preempted.getInt(i));
            leaveSlot(request);
            request.reset();
            plan.preempted.add(request);
        }
        for (int i = 0; i < outcome.victims.size(); i++) {
            victims.add(running.get(outcome.victims.getInt(i)));
        }
        running = new ObjectArrayList<>(running);
        running.removeAll(victims);
        return victims;
    }

    private void makePrefillBatch(
            PrefillOutcome outcome, ObjectArrayList<SglangRequest> sorted, ObjectArrayList<SglangRequest> victims) {
        int count = outcome.added.size();
        var requests = new ObjectArrayList<SglangRequest>(count + (config.isMixing() ? running.size() : 0));
        var numTokens = new int[count];
        for (int i = 0; i < count; i++) {
            int place = outcome.added.getInt(i);
            var request = place == PrefillAdder.CHUNK ? chunkedRequest() : sorted.get(place);
            request.end = outcome.ends.getInt(i);
            numTokens[i] = request.end - outcome.prefixes.getInt(i);
            plan.numPrefillTokens += numTokens[i];
            if (place == PrefillAdder.CHUNK || place == outcome.newChunk) {
                plan.numChunkTokens += numTokens[i];
            }
            request.isRetracted = false;
            requests.add(request);
        }
        waiting.removeAll(requests);
        victims.forEach(this::requeue);
        if (chunked != null && !outcome.isChunkCut) {
            chunked = null;
        }
        if (outcome.newChunk >= 0) {
            chunked = sorted.get(outcome.newChunk);
        }
        if (chunked != null) {
            chunked.numMiddleChunks++;
        }
        for (int i = 0; i < count; i++) {
            if (requests.get(i).slot == 0) {
                requests.get(i).slot = slots.dequeueInt();
            }
        }
        var mode = SglangBatch.Mode.EXTEND;
        if (config.isMixing() && !running.isEmpty()) {
            running.removeIf(SglangRequest::isFinished);
            if (!running.isEmpty()) {
                mode = SglangBatch.Mode.MIXED;
                for (int i = 0; i < running.size(); i++) {
                    var request = running.get(i);
                    request.numFillTokens = request.numTokens();
                    request.end = request.numTokens();
                }
                requests.addAll(running);
            }
            running = new ObjectArrayList<>();
            runningForward = 0;
        }
        plan.loadNanos = outcome.loadNanos;
        if (delayer != null) {
            delayer.onBatch(count);
        }
        numDeferredTurns = config.prefillDecodeInterval();
        plan.numHitTokens = outcome.numHitTokens;
        plan.numInputTokens = outcome.numInputTokens;
        plan.batch = new SglangBatch(mode, requests, numTokens, outcome.prefixes.toIntArray(), chunked, ++numForwards);
    }

    final SglangRequest chunkedRequest() {
        var request = chunked;
        if (request == null) {
            throw new IllegalStateException("no prefill was going on");
        }
        return request;
    }

    /** Lets those that run go on by a step ({@code update_running_batch}). */
    final void askDecode() {
        if (running.isEmpty()) {
            return;
        }
        int numBefore = running.size();
        running.removeIf(SglangRequest::isFinished);
        if (running.size() < numBefore) {
            isFull = false;
        }
        if (!running.isEmpty()) {
            asks.add(decodeAsk());
        }
    }

    private DecodeAsk decodeAsk() {
        int count = running.size();
        var handles = new int[count];
        boolean looksAtWindow = looksAtWindow();
        var numTokens = new int[looksAtWindow ? count : 0];
        for (int i = 0; i < count; i++) {
            handles[i] = running.get(i).handle();
            if (looksAtWindow) {
                numTokens[i] = running.get(i).numTokens();
            }
        }
        return new DecodeAsk(handles, numTokens);
    }

    private boolean looksAtWindow() {
        return config.memory().window() != null
                && config.memory().eagleReserve() == 0
                && runningForward % Math.max(1, config.windowEvictionInterval()) == 0;
    }

    private void setDecodeBatch() {
        runningForward = ++numForwards;
        plan.batch = new SglangBatch(
                SglangBatch.Mode.DECODE, new ObjectArrayList<>(running), NO_TOKENS, NO_TOKENS, null, runningForward);
    }

    private static final int[] NO_TOKENS = new int[0];

    /** Asks who gives up, those first that have fewest outputs, and among them the longest inputs ({@code retract_decode}). */
    private void askRetraction() {
        if (config.memory().eagleReserve() == 0) {
            Comparator<SglangRequest> order = Comparator.comparingInt(request -> -request.numOutputTokens);
            order = order.thenComparingInt(SglangRequest::numPromptTokens);
            if (config.retractsByPriority()) {
                Comparator<SglangRequest> byImportance =
                        (a, b) -> config.priorities().compare(retractionPriority(a), retractionPriority(b));
                order = byImportance.thenComparing(order);
            }
            running.sort(order);
        }
        asks.add(new RetractAsk(decodeAsk()));
    }

    private long retractionPriority(SglangRequest request) {
        return request.hasPriority ? request.priority : config.priorities().unset();
    }

    private void onRetracted(RetractAsk.Outcome outcome) {
        int numBefore = running.size();
        for (int i = numBefore - 1; i >= outcome.numLeft(); i--) {
            var request = running.get(i);
            leaveSlot(request);
            request.reset();
            if (i == 0 && outcome.isLastAborted()) {
                request.isFinished = true;
                request.hasFailed = true;
                plan.outOfMemory.add(request);
            } else {
                plan.retracted.add(request);
            }
        }
        running.size(outcome.numLeft());
        long numOutputs = 0;
        long maxNew = 0;
        for (int i = 0; i < running.size(); i++) {
            numOutputs += running.get(i).numOutputTokens;
            maxNew += running.get(i).maxNewTokens;
        }
        newTokenRatio = Math.min(
                1, (double) (numOutputs + (long) RETRACT_DECODE_STEPS * running.size()) / (double) (maxNew + 1));
        plan.retracted.forEach(this::requeue);
        isFull &= running.size() == numBefore;
        if (!running.isEmpty()) {
            setDecodeBatch();
        }
    }

    /** Tokens that the ratio counts for each request that is left ({@code SGLANG_RETRACT_DECODE_STEPS}). */
    private static final int RETRACT_DECODE_STEPS = 20;

    /** Returns the plan once {@link #next} has no more questions, and ends it: the next turn may begin. */
    public final SglangPlan plan() {
        last = plan.batch;
        lastRequests = last == null || last.mode() == SglangBatch.Mode.DECODE
                ? new ObjectArrayList<>()
                : new ObjectArrayList<>(last.requests());
        onPlanned(plan);
        return plan;
    }

    /** Returns the plan of the last turn, until the next one begins. */
    public final SglangPlan lastPlan() {
        return plan;
    }

    void onPlanned(SglangPlan planned) {}

    /** Ends a turn, after its result was applied; returns what that does to the memory. */
    public RadixSettlement endTurn() {
        settlement.begin();
        return settlement.build();
    }

    /** Returns the queues of a role that a request goes through besides, by name; none without a role. */
    public Map<String, List<SglangRequest>> roleQueues() {
        return Map.of();
    }

    /** Returns the free metadata buffers of a role. */
    public int numFreeMetadata() {
        return 0;
    }

    /**
     * Applies the result of a batch.
     *
     * @param numAccepted tokens that a verification of drafts has given each request; empty without drafts
     * @param sampled is told of each request that got tokens
     * @return changes of the memory
     */
    public RadixSettlement update(SglangBatch executed, int[] numAccepted, Sampled sampled) {
        settlement.begin();
        boolean isDecode = executed.mode() == SglangBatch.Mode.DECODE;
        if (isDecode) {
            settlement.group();
        }
        for (int i = 0; i < executed.size(); i++) {
            var request = executed.request(i);
            if (isSkipped(request, isDecode)) {
                continue;
            }
            if (!isDecode && request.numMiddleChunks > 0) {
                request.numMiddleChunks--;
                continue;
            }
            int count = 1;
            if (isDecode && numAccepted.length > 0) {
                count = numAccepted[i];
                settlement.commit(request.handle(), count);
            }
            end(request, request.sample(count));
            sampled.on(request, count);
            if (request.isFinished) {
                release(request);
            } else if (i < executed.numPrefills()) {
                settlement.cache(request.handle());
            }
        }
        return settlement.build();
    }

    private boolean isSkipped(SglangRequest request, boolean isDecode) {
        if (isDecode) {
            return config.overlaps() && (request.isFinished || request.isRetracted);
        }
        return request.isRetracted || (request.isFinished && request.numMiddleChunks <= 0);
    }

    /** Ends a request whose last token has come ({@code check_finished}). */
    final void end(SglangRequest request, boolean isEnd) {
        if (request.isFinished) {
            return;
        }
        if (request.isAborting) {
            request.isFinished = true;
            request.isAborting = false;
            request.hasFailed = true;
        } else if (isEnd || request.numOutputTokens >= request.maxNewTokens) {
            request.isFinished = true;
            request.hasEnded = isEnd;
        }
    }

    /** Receiver of the tokens that a result has brought; a request that ends with them has ended already. */
    @FunctionalInterface
    public interface Sampled {
        void on(SglangRequest request, int numTokens);
    }

    /**
     * Ends a turn in which nothing ran while nothing is in flight ({@code is_fully_idle}).
     *
     * @param hasPendingCopies whether the memory copies to or from the host
     */
    public void onIdle(boolean hasPendingCopies) {
        if (!hasPendingCopies
                && running.isEmpty()
                && chunked == null
                && lastRequests.isEmpty()
                && waiting.isEmpty()
                && isIdle()) {
            newTokenRatio = config.initNewTokenRatio();
        }
    }

    boolean isIdle() {
        return true;
    }

    public List<SglangRequest> waiting() {
        return waiting;
    }

    public List<SglangRequest> running() {
        return running;
    }

    /** Returns how many requests have a row of the request table. */
    final int numSeated() {
        return numSlots - slots.size();
    }

    /** Returns how many requests wait for their places, in any queue. */
    int numWaiting() {
        return waiting.size();
    }

    /** Returns the turns in which each queue is looked at once. */
    int pollingInterval() {
        return 1;
    }

    /** Returns a number that changes with every change of the queues, to find out whether anything happens. */
    long stateNumber() {
        return ((long) waiting.size() << Integer.SIZE) + running.size() * 2L + (isFull ? 1 : 0);
    }

    final boolean admitsNone() {
        return admitsNone;
    }

    /** Returns these requests: those that run, then those of the last prefill. */
    List<SglangRequest> seated() {
        var seated = new LinkedHashSet<>(running);
        seated.addAll(lastRequests);
        if (chunked != null) {
            seated.add(chunked);
        }
        seated.removeIf(request -> request.slot == 0);
        return List.copyOf(seated);
    }

    public @Nullable SglangRequest chunked() {
        return chunked;
    }

    public boolean isFull() {
        return isFull;
    }

    public double newTokenRatio() {
        return newTokenRatio;
    }

    final TreeSize tree() {
        return tree;
    }

    /** Returns the free rows of the request table, next to be given out first. */
    public int[] freeSlots() {
        var order = new int[slots.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = slots.dequeueInt();
            slots.enqueue(order[i]);
        }
        return order;
    }
}
