package understudy.engine.sglang;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.radix.PrefixOrder;
import understudy.kvcache.radix.RadixConfig;
import understudy.kvcache.radix.RadixLookup;
import understudy.kvcache.radix.RadixMemory;
import understudy.kvcache.radix.RadixSequence;

/**
 * Admission of waiting requests to a prefill batch (SGLang {@code managers/schedule_policy.py}, {@code PrefillAdder}, and
 * {@code scheduler.py}, {@code _get_new_batch_prefill_raw}). It lives for one attempt, beside the memory.
 */
final class PrefillAdder {
    /** The place of the request whose prefill goes on. */
    static final int CHUNK = -1;

    /** The limit of a request that is refused. */
    private static final int NONE = Integer.MIN_VALUE;

    /** Most waiting requests that are ordered by prefixes ({@code schedule_policy.py}). */
    static final int MAX_ORDERED_BY_PREFIX = 128;

    private final PrefillAsk ask;
    private final SglangConfig config;
    private final RadixMemory memory;
    private final PrefillOutcome outcome = new PrefillOutcome();
    private final int pageSize;
    private final RadixConfig.@Nullable Window window;
    private final boolean hasHost;
    private final boolean chunks;
    private final ObjectArrayList<RequestView> running;
    private final ObjectArrayList<RadixSequence> batch = new ObjectArrayList<>();
    private final ObjectArrayList<RequestView> added = new ObjectArrayList<>();
    private final boolean isInUseLittle;

    /** Names of the adapters of the running requests and of the batch, empty for the base model. */
    private final Set<String> adapters = new HashSet<>();

    private int numRunning;
    private int numFreeSlots;
    private int remInput;
    private int remChunk;
    private double totalOffset;
    private int currentOffset;
    private int windowOffset;
    private @Nullable ObjectArrayList<RemainingTokens> states;

    /** Tokens that a request needs still at most, and those that it holds ({@code req_states}). */
    private record RemainingTokens(double numLeft, int numHeld) {}

    PrefillAdder(PrefillAsk ask, RadixMemory memory) {
        this.ask = ask;
        this.memory = memory;
        config = ask.config();
        pageSize = config.memory().pageSize();
        window = config.memory().window();
        hasHost = config.memory().hierarchy() != null;
        chunks = config.chunksPrefill();
        running = new ObjectArrayList<>(ask.running());
        numRunning = ask.numRunning();
        numFreeSlots = ask.numFreeSlots();
        outcome.isFull = ask.isFull();
        int numMixed = config.isMixing() ? numRunning : 0;
        remInput = config.maxPrefillTokens() - numMixed;
        remChunk = config.chunkedPrefillSize() - numMixed;
        currentOffset = numMixed;
        var delay = config.prefillDelay();
        isInUseLittle = delay != null && memory.tokenUsage() < delay.lowWatermark();
        if (config.maxLorasPerBatch() > 0) {
            running.forEach(request -> {
                if (!request.isFinished()) {
                    adapters.add(request.adapter());
                }
            });
        }
        totalOffset = numMixed + ask.runningOffset();
    }

    PrefillOutcome add() {
        order();
        if (ask.chunk() != null) {
            addChunked(ask.chunk());
        }
        for (int place = 0; place < ask.waiting().size(); place++) {
            var request = waiting(place);
            if (!hasRoomForAdapter(request)) {
                continue;
            }
            if (added.size() >= Math.min(config.maxRunningRequests() - numRunning, numFreeSlots)) {
                outcome.isFull = true;
            }
            if (outcome.isFull && !(config.priorities().arePreempting() && preemptFor(request, place))) {
                break;
            }
            if (!memory.endFetch(request.handle())) {
                outcome.awaitsFetch = true;
                continue;
            }
            var sequence = memory.open(request.lookup());
            memory.match(sequence, Math.max(request.numTokens() - 1, 0));
            int numPrefix = sequence.numPrefixTokens();
            var result = isDelayed() ? AddResult.OTHER : tryToAdd(request, sequence, place);
            outcome.trials.add(
                    new PrefillOutcome.Trial(place, numPrefix, sequence.hostHit(), sequence.numPrefixTokens(), result));
            if (result != AddResult.CONTINUE) {
                if (result == AddResult.NO_TOKEN) {
                    outcome.isFull = !hasHost || !added.isEmpty() || numRunning > 0;
                }
                break;
            }
        }
        if (!added.isEmpty()) {
            allocate();
        }
        return outcome;
    }

    /** Returns whether the adapter of a request, or the base model, may be in a batch with those of the others. */
    private boolean hasRoomForAdapter(RequestView request) {
        int maxLoras = config.maxLorasPerBatch();
        return maxLoras == 0 || adapters.size() < maxLoras || adapters.contains(request.adapter());
    }

    /** Returns whether prompts are put off; it is asked for the first of them, one whose prefill goes on included. */
    private boolean isDelayed() {
        if (config.prefillDelay() == null || isInUseLittle) {
            return false;
        }
        outcome.isDelayable = true;
        return ask.delays();
    }

    private RequestView waiting(int place) {
        return ask.waiting().get(outcome.order == null ? place : outcome.order.at(place));
    }

    private void order() {
        if (ask.order() == null) {
            return;
        }
        var lookups = new ObjectArrayList<RadixLookup>(ask.waiting().size());
        var lengths = new int[ask.waiting().size()];
        for (int i = 0; i < lengths.length; i++) {
            lookups.add(ask.waiting().get(i).lookup());
            lengths[i] = ask.waiting().get(i).numTokens();
        }
        outcome.order = PrefixOrder.of(ask.order(), memory, lookups, lengths);
    }

    private double remTotal() {
        return memory.numAvailable() - totalOffset;
    }

    private int remCurrent() {
        return memory.numAvailable() - currentOffset;
    }

    private int remWindow() {
        return memory.numWindowAvailable() - windowOffset;
    }

    private int ceil(int tokens) {
        return Math.floorDiv(tokens + pageSize - 1, pageSize) * pageSize;
    }

    private int floor(int tokens) {
        return Math.floorDiv(tokens, pageSize) * pageSize;
    }

    /** Goes on with the request whose prefill is unfinished ({@code add_chunked_req}). */
    private void addChunked(RequestView request) {
        int rem = Math.min(remChunk, (int) remTotal());
        if (window != null) {
            rem = Math.min(rem, remWindow() - pageSize);
        } else if (rem <= 0) {
            rem = remChunk;
        }
        if (rem <= 0) {
            outcome.isChunkCut = true;
            return;
        }
        // It goes on whatever the answer is.
        isDelayed();
        var sequence = memory.sequence(request.handle());
        int wanted = request.numTokens() - sequence.numPrefixTokens();
        outcome.isChunkCut = wanted > rem;
        int count = Math.min(wanted, rem);
        memory.setEnd(sequence, sequence.numPrefixTokens() + count);
        include(request, sequence, CHUNK, sequence.numPrefixTokens() + count);
        charge(0, count, outcome.isChunkCut ? 0 : config.clipped(request.maxNewTokens()));
    }

    private void include(RequestView request, RadixSequence sequence, int place, int end) {
        added.add(request);
        adapters.add(request.adapter());
        batch.add(sequence);
        outcome.added.add(place);
        outcome.ends.add(end);
        outcome.prefixes.add(sequence.numPrefixTokens());
    }

    /** Charges a request ({@code _update_prefill_budget}). */
    private void charge(int numPrefix, int numTokens, int numNewTokens) {
        int count = ceil(numTokens);
        totalOffset += count + numNewTokens + pageSize;
        currentOffset += count + pageSize;
        remInput -= count;
        if (window != null) {
            windowOffset += windowNeed(count);
        }
        if (chunks) {
            remChunk -= count;
        }
        outcome.numHitTokens += numPrefix;
        outcome.numInputTokens += count;
    }

    private AddResult state() {
        if (remTotal() <= 0 || remCurrent() <= 0 || (window != null && remWindow() <= 0)) {
            return AddResult.NO_TOKEN;
        }
        return remInput <= 0 || (chunks && remChunk <= 0) ? AddResult.OTHER : AddResult.CONTINUE;
    }

    /** Returns the tokens of the window's pool that so many tokens need, one page for what is decoded included. */
    private int windowNeed(int numTokens) {
        int size = Objects.requireNonNull(window).size();
        int atOnce = chunks ? Math.min(numTokens, remChunk) : numTokens;
        return Math.max(atOnce - size, 0) + size + pageSize;
    }

    /** Returns how many tokens of a request the window's pool allows, at most {@code limit}; or {@link #NONE}. */
    private int windowLimit(int numTokens, int limit) {
        if (window == null || windowNeed(numTokens) < remWindow()) {
            return limit;
        }
        int room = floor(Math.max(remWindow() - window.size() - pageSize, 0));
        return !chunks || room == 0 ? NONE : Math.min(remChunk, room);
    }

    /** Tries a waiting request ({@code add_one_req}). */
    private AddResult tryToAdd(RequestView request, RadixSequence sequence, int place) {
        if (config.prefillMaxRequests() > 0 && added.size() >= config.prefillMaxRequests()) {
            return AddResult.OTHER;
        }
        if (request.ignoresEos() && !memory.isCaching()) {
            return tryWithoutEos(request, sequence, place);
        }
        int wanted = request.numTokens() - sequence.numPrefixTokens();
        int total = wanted + config.clipped(Math.max(request.maxNewTokens() - request.numOutputTokens(), 0)) + pageSize;
        int paged = ceil(wanted - sequence.hostHit());
        if (total >= remTotal()) {
            return AddResult.NO_TOKEN;
        }
        int limit = windowLimit(paged, chunks ? remChunk : Integer.MAX_VALUE);
        if (limit == NONE) {
            return AddResult.NO_TOKEN;
        }
        if (exceedsInput(paged)) {
            return AddResult.OTHER;
        }
        if (!memory.isCaching()) {
            return addOne(request, sequence, place, paged, limit);
        }
        memory.hold(sequence);
        var result = tryLocked(request, sequence, place, total, paged, limit);
        memory.letGo(sequence);
        return result == AddResult.CONTINUE ? state() : result;
    }

    private boolean exceedsInput(int paged) {
        return !chunks && !added.isEmpty() && paged >= remInput;
    }

    /** The second half of the trial, while the request's node is locked, so that less is evictable. */
    private AddResult tryLocked(
            RequestView request, RadixSequence sequence, int place, int total, int firstPaged, int firstLimit) {
        if (total >= remTotal()) {
            return AddResult.NO_TOKEN;
        }
        int paged = firstPaged;
        int limit = windowLimit(paged, firstLimit);
        if (limit == NONE) {
            return AddResult.NO_TOKEN;
        }
        if (sequence.hostHit() > 0) {
            memory.loadBack(sequence);
            paged = ceil(request.numTokens() - sequence.numPrefixTokens());
            if (exceedsInput(paged)) {
                return AddResult.OTHER;
            }
        }
        return addOne(request, sequence, place, paged, limit);
    }

    private AddResult addOne(RequestView request, RadixSequence sequence, int place, int paged, int limit) {
        int numPrefix = sequence.numPrefixTokens();
        int count = paged;
        int end = request.numTokens();
        int numNew = config.clipped(request.maxNewTokens());
        if (chunks && paged > limit) {
            count = floor(limit);
            if (count <= 0) {
                return AddResult.OTHER;
            }
            count = floor(count + numPrefix) - numPrefix;
            if (count <= 0) {
                return AddResult.OTHER;
            }
            end = numPrefix + count;
            numNew = 0;
            outcome.newChunk = place;
        }
        include(request, sequence, place, end);
        memory.admit(sequence, end);
        memory.count(request.wasPreempted(), request.numTokens(), numPrefix);
        charge(numPrefix, count, numNew);
        return memory.isCaching() ? AddResult.CONTINUE : state();
    }

    /** Tries a request that goes on to its limit, where nothing is cached ({@code add_one_req_ignore_eos}). */
    private AddResult tryWithoutEos(RequestView request, RadixSequence sequence, int place) {
        int wanted = request.numTokens();
        if (ceil(wanted) > Math.min(remCurrent(), remTotal()) || !remainsEnough(request, ceil(wanted))) {
            return AddResult.NO_TOKEN;
        }
        int end = wanted;
        if (!chunks || wanted <= remChunk) {
            include(request, sequence, place, end);
            charge(0, wanted, config.clipped(request.maxNewTokens()));
        } else {
            if (remChunk <= 0) {
                return AddResult.OTHER;
            }
            end = remChunk;
            include(request, sequence, place, end);
            outcome.newChunk = place;
            charge(0, remChunk, 0);
        }
        memory.admit(sequence, end);
        return state();
    }

    /** Returns whether the tokens last, if requests end one after the other and free what they hold. */
    private boolean remainsEnough(RequestView request, int numTokens) {
        var list = remainingTokensWith(request);
        int current = remCurrent() - numTokens;
        int freed = 0;
        for (int i = 0; i < list.size(); i++) {
            int batchSize = list.size() - i;
            if (current + freed - list.get(i).numLeft() * batchSize <= batchSize) {
                return false;
            }
            freed += list.get(i).numHeld();
        }
        return true;
    }

    private ObjectArrayList<RemainingTokens> remainingTokensWith(RequestView request) {
        var known = states;
        if (known == null) {
            var list = new ObjectArrayList<RemainingTokens>();
            addRemaining(request, list);
            for (int i = 0; i < running.size(); i++) {
                if (!outcome.victims.contains(i)) {
                    addRemaining(running.get(i), list);
                }
            }
            added.forEach(other -> addRemaining(other, list));
            list.sort((a, b) -> Double.compare(a.numLeft(), b.numLeft()));
            states = list;
            return list;
        }
        var own = remaining(request);
        if (own.numLeft() > 0) {
            int at = 0;
            while (at < known.size() - 1 && own.numLeft() > known.get(at).numLeft()) {
                at++;
            }
            // SGLang's loop ends at the last place if none is found, so that the longest stands before the last.
            known.add(at, own);
        }
        return known;
    }

    private RemainingTokens remaining(RequestView request) {
        double numLeft =
                request.maxNewTokens() * (request.ignoresEos() ? 1.0 : ask.newTokenRatio()) - request.numOutputTokens();
        return new RemainingTokens(numLeft, request.numTokens());
    }

    private void addRemaining(RequestView request, ObjectArrayList<RemainingTokens> list) {
        var own = remaining(request);
        if (own.numLeft() > 0) {
            list.add(own);
        }
    }

    /**
     * Preempts running requests for a more important one, if enough are less important ({@code preempt_to_schedule}).
     * Its need goes by the tokens that it had when it was tried last, and by those found of it at the last look.
     */
    private boolean preemptFor(RequestView request, int place) {
        var byImportance = new IntArrayList();
        for (int i = 0; i < running.size(); i++) {
            if (!running.get(i).isFinished() && !outcome.victims.contains(i)) {
                byImportance.add(i);
            }
        }
        byImportance.sort((a, b) -> {
            int byPriority = config.priorities()
                    .compare(running.get(b).priority(), running.get(a).priority());
            return byPriority != 0
                    ? byPriority
                    : Long.compare(running.get(b).entry(), running.get(a).entry());
        });
        var order = outcome.order;
        int numPrefix = order == null ? request.numPrefixTokens() : order.numPrefixTokens(order.at(place));
        double need = request.numFillTokens() - numPrefix + config.clipped(request.maxNewTokens()) - remTotal();
        int count = 0;
        while (count < byImportance.size() && (count == 0 || need > 0)) {
            var victim = running.get(byImportance.getInt(count));
            if (!config.priorities().mayPreempt(request.priority(), victim.priority())) {
                break;
            }
            need -= victim.offset(config, ask.newTokenRatio());
            count++;
        }
        if (count == 0 || need > 0) {
            return false;
        }
        int numBefore = numRunning;
        for (int i = 0; i < running.size(); i++) {
            if (byImportance.subList(0, count).contains(i)) {
                totalOffset -= running.get(i).offset(config, ask.newTokenRatio());
                numRunning--;
                memory.retract(running.get(i).handle(), numRunning);
                numFreeSlots++;
                outcome.preempted.add(i);
            }
        }
        outcome.victims.addAll(byImportance.subList(0, numBefore - numRunning));
        return true;
    }

    /** Gives the batch its places, and in a mixed batch those that run one more each. */
    private void allocate() {
        outcome.loadNanos = memory.startLoading();
        memory.extend(batch);
        if (!config.isMixing() || numRunning == 0) {
            return;
        }
        var handles = new IntArrayList(numRunning);
        var numTokens = new IntArrayList();
        for (int i = 0; i < running.size(); i++) {
            if (!running.get(i).isFinished() && !outcome.victims.contains(i)) {
                handles.add(running.get(i).handle());
                if (ask.looksAtWindow()) {
                    numTokens.add(running.get(i).numTokens());
                }
            }
        }
        if (!handles.isEmpty()) {
            new DecodeAsk(handles.toIntArray(), numTokens.toIntArray()).allocate(memory, handles.size());
        }
    }
}
