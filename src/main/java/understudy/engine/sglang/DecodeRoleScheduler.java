package understudy.engine.sglang;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import java.util.Map;
import understudy.kvcache.radix.RadixAnswer;
import understudy.kvcache.radix.RadixLookup;

/**
 * Engine that decodes what another one has prefilled ({@code disaggregation/decode.py}). A request waits for places, then
 * for its KV, then for its place among those that run. Retracted ones are resumed before new ones get places.
 */
final class DecodeRoleScheduler extends RoleScheduler {
    private final ObjectArrayList<SglangRequest> preallocQueue = new ObjectArrayList<>();
    private final ObjectArrayList<SglangRequest> handshaken = new ObjectArrayList<>();
    private final ObjectArrayList<SglangRequest> retractedQueue = new ObjectArrayList<>();
    private final ObjectArrayList<SglangRequest> transferQueue = new ObjectArrayList<>();
    private ObjectArrayList<SglangRequest> asked = new ObjectArrayList<>();
    private final ObjectArrayList<SglangRequest> abortedWaiting = new ObjectArrayList<>();
    private int numTurns;

    DecodeRoleScheduler(SglangConfig config, SglangConfig.Disaggregation role) {
        super(config, role);
    }

    @Override
    void arrive(SglangRequest request) {
        preallocQueue.add(request);
    }

    @Override
    void requeue(SglangRequest request) {
        retractedQueue.add(request);
    }

    @Override
    int numWaiting() {
        return super.numWaiting() + preallocQueue.size() + retractedQueue.size();
    }

    @Override
    int pollingInterval() {
        return role.decodePollingInterval();
    }

    @Override
    long stateNumber() {
        long number = super.stateNumber() * PRIME + preallocQueue.size();
        return (number * PRIME + retractedQueue.size()) * PRIME + transferQueue.size();
    }

    @Override
    List<SglangRequest> queued() {
        var all = new ObjectArrayList<>(preallocQueue);
        all.addAll(retractedQueue);
        all.addAll(transferQueue);
        return all;
    }

    @Override
    boolean isIdle() {
        return preallocQueue.isEmpty() && retractedQueue.isEmpty() && transferQueue.isEmpty();
    }

    @Override
    public Map<String, List<SglangRequest>> roleQueues() {
        return Map.of(
                "prealloc",
                preallocQueue,
                "handshaken",
                handshaken,
                "retracted_queue",
                retractedQueue,
                "transfer",
                transferQueue);
    }

    @Override
    public boolean abort(SglangRequest request) {
        if (waiting.contains(request)) {
            abortedWaiting.add(request);
            leaveSlot(request);
        } else if (preallocQueue.contains(request) || transferQueue.contains(request)) {
            request.requirePeer().abort();
        }
        boolean wasRetracted = retractedQueue.remove(request);
        return super.abort(request) || wasRetracted;
    }

    @Override
    void beginTurn() {
        abortedWaiting.forEach(request -> settlement.release(request.handle()));
        abortedWaiting.clear();
        askSettlement();
        if (retractedQueue.isEmpty()) {
            preallocate();
        } else {
            askPlaces(retractedQueue, true);
        }
    }

    @Override
    void onAnswer(RadixAnswer answer) {
        var outcome = (PreallocateAsk.Outcome) answer;
        for (int i = 0; i < outcome.count(); i++) {
            var request = asked.get(i);
            request.slot = slots.dequeueInt();
            request.end = numFilled(request);
            if (outcome.isResumption()) {
                request.isRetracted = false;
                plan.resumed.add(request);
            } else {
                takeMetadata(request);
                request.requirePeer().onTransferBegun();
                plan.sent.add(new SglangPlan.Sent(request, numPages(request.numPromptTokens()), true));
                plan.preallocated.add(request);
            }
        }
        if (!outcome.isResumption()) {
            preallocQueue.removeAll(plan.preallocated);
            handshaken.removeAll(plan.preallocated);
            transferQueue.addAll(plan.preallocated);
            takeTransferred();
            runPrebuilt();
            return;
        }
        retractedQueue.removeElements(0, outcome.count());
        waiting.addAll(plan.resumed);
        if (retractedQueue.isEmpty()) {
            preallocate();
        } else {
            runPrebuilt();
        }
    }

    /** Returns the tokens of a request that have KV. */
    private static int numFilled(SglangRequest request) {
        return request.numPromptTokens() + Math.max(request.numOutputTokens - 1, 0);
    }

    private void preallocate() {
        numTurns = (numTurns + 1) % role.decodePollingInterval();
        if (numTurns != 0) {
            runPrebuilt();
            return;
        }
        for (var request : List.copyOf(preallocQueue)) {
            var state = request.requirePeer().poll();
            if (state == Peer.State.FAILED) {
                preallocQueue.remove(request);
                handshaken.remove(request);
                leave(request, true);
            }
        }
        handshaken.clear();
        for (var request : preallocQueue) {
            if (request.requirePeer().poll() == Peer.State.WAITING_FOR_INPUT) {
                handshaken.add(request);
            }
        }
        askPlaces(handshaken, false);
    }

    private void askPlaces(ObjectArrayList<SglangRequest> queue, boolean isResumption) {
        int count = Math.min(queue.size(), slots.size());
        if (!isResumption) {
            count = admitsNone() ? 0 : Math.min(count, numFreeMetadata());
        }
        asked = new ObjectArrayList<>(queue.subList(0, count));
        int numRetractable = 0;
        for (int i = 0; i < running.size(); i++) {
            numRetractable += running.get(i).numTokens();
        }
        int largestNeed = isResumption || running.isEmpty() ? 0 : Integer.MIN_VALUE;
        for (int i = 0; i < running.size() && !isResumption; i++) {
            largestNeed = Math.max(largestNeed, numAtEnd(running.get(i)) - numRetractable);
        }
        var lookups = new ObjectArrayList<RadixLookup>(count);
        var numTokens = new IntArrayList(count);
        var numNeeded = new IntArrayList(count);
        for (var request : asked) {
            int filled = numFilled(request);
            int needed = filled + role.numReservedDecodeTokens();
            lookups.add(request.lookup);
            numTokens.add(filled);
            numNeeded.add(isResumption ? needed : Math.max(needed, numAtEnd(request) - numRetractable));
        }
        ask(new PreallocateAsk(
                lookups,
                numTokens,
                numNeeded,
                role.numReservedDecodeTokens(),
                running.size() + transferQueue.size() + waiting.size(),
                largestNeed,
                isResumption));
    }

    private int numAtEnd(SglangRequest request) {
        return request.numPromptTokens() + config.clipped(request.maxNewTokens);
    }

    /** Takes the requests whose KV has arrived, with their first token, to those that wait. */
    private void takeTransferred() {
        for (var request : List.copyOf(transferQueue)) {
            var state = request.requirePeer().poll();
            if (state == Peer.State.FAILED) {
                transferQueue.remove(request);
                drop(request);
                leave(request, true);
                returnMetadata(request);
            } else if (state == Peer.State.SUCCESS) {
                transferQueue.remove(request);
                request.hasEnded = request.sample(1);
                request.hasUntoldToken = true;
                returnMetadata(request);
                waiting.add(request);
                plan.transferred.add(request);
            }
        }
    }

    /** Lets those that wait run, as far as there are seats; who has ended with the first token leaves here. */
    private void runPrebuilt() {
        plan.queued.addAll(waiting);
        int count = Math.min(waiting.size(), Math.max(config.maxRunningRequests() - running.size(), 0));
        plan.prebuilt.addAll(waiting.subList(0, count));
        waiting.removeElements(0, count);
        boolean wasEmpty = running.isEmpty();
        for (var request : plan.prebuilt) {
            request.isRetracted = false;
            end(request, request.hasEnded);
            if (request.isFinished) {
                release(request);
                leave(request, false);
            } else {
                running.add(request);
            }
        }
        if (wasEmpty && !running.isEmpty()) {
            isFull = false;
            runningForward = 0;
        }
        askSettlement();
        askDecode();
    }
}
