package understudy.engine.sglang;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import java.util.Map;
import understudy.kvcache.radix.RadixSettlement;

/**
 * Engine that computes prompts for another one ({@code disaggregation/prefill.py}). A request waits for its handshake,
 * then for its prefill, then for the end of its transfer.
 */
final class PrefillRoleScheduler extends RoleScheduler {
    private final ObjectArrayList<SglangRequest> bootstrapQueue = new ObjectArrayList<>();
    private final ObjectArrayList<SglangRequest> inflightQueue = new ObjectArrayList<>();

    PrefillRoleScheduler(SglangConfig config, SglangConfig.Disaggregation role) {
        super(config, role);
    }

    @Override
    void arrive(SglangRequest request) {
        request.maxNewTokens = 1;
        request.isHandshakePending = true;
        bootstrapQueue.add(request);
    }

    @Override
    boolean isIdle() {
        return bootstrapQueue.isEmpty() && inflightQueue.isEmpty();
    }

    @Override
    int numWaiting() {
        return super.numWaiting() + bootstrapQueue.size();
    }

    @Override
    long stateNumber() {
        return super.stateNumber() * PRIME + bootstrapQueue.size() * PRIME + inflightQueue.size();
    }

    @Override
    List<SglangRequest> queued() {
        var all = new ObjectArrayList<>(bootstrapQueue);
        all.addAll(inflightQueue);
        return all;
    }

    @Override
    public Map<String, List<SglangRequest>> roleQueues() {
        return Map.of("bootstrap", bootstrapQueue, "inflight", inflightQueue);
    }

    private static boolean isAborted(SglangRequest request) {
        return request.isAborting || request.hasFailed;
    }

    @Override
    public boolean abort(SglangRequest request) {
        if (waiting.contains(request)) {
            returnMetadata(request);
            if (request.isHandshakePending) {
                request.requirePeer().abort();
            }
        } else if (bootstrapQueue.contains(request) || inflightQueue.contains(request)) {
            request.requirePeer().abort();
        }
        return super.abort(request);
    }

    @Override
    void beginTurn() {
        takeBootstrapped();
        if (isChunkAborted) {
            endAbortedChunk(chunkedRequest());
        }
        isFull = false;
        pollWaiting();
        var goesOn = chunked;
        if (goesOn != null) {
            goOn(goesOn);
        }
        filterLast(goesOn);
        askSettlement();
        askPrefill();
    }

    private void takeBootstrapped() {
        for (var request : List.copyOf(bootstrapQueue)) {
            var state = request.requirePeer().poll();
            if (state == Peer.State.FAILED) {
                bootstrapQueue.remove(request);
                failHandshake(request);
            } else if (state == Peer.State.BOOTSTRAPPING ? startsEarly(request) : finishHandshake(request)) {
                bootstrapQueue.remove(request);
                plan.bootstrapped.add(request);
            }
        }
        waiting.addAll(plan.bootstrapped);
    }

    /** Lets a prefill start before its handshake is done, so many times. */
    private boolean startsEarly(SglangRequest request) {
        boolean starts = request.numOptimisticAttempts < role.optimisticPrefillAttempts()
                && !request.isRetracted
                && takeMetadata(request);
        request.numOptimisticAttempts += starts ? 1 : 0;
        return starts;
    }

    private boolean finishHandshake(SglangRequest request) {
        if (!takeMetadata(request)) {
            return false;
        }
        request.isHandshakePending = false;
        return true;
    }

    private void failHandshake(SglangRequest request) {
        if (request.slot != 0) {
            release(request);
        }
        returnMetadata(request);
        request.isHandshakePending = false;
        leave(request, true);
    }

    @Override
    void endAbortedChunk(SglangRequest request) {
        request.requirePeer().abort();
        request.isHandshakePending = false;
        returnMetadata(request);
        super.endAbortedChunk(request);
    }

    private void pollWaiting() {
        for (var request : List.copyOf(waiting)) {
            if (isAborted(request)) {
                continue;
            }
            var state = request.requirePeer().poll();
            if (state == Peer.State.FAILED) {
                failHandshake(request);
                waiting.remove(request);
            } else if (state == Peer.State.WAITING_FOR_INPUT && request.isHandshakePending) {
                finishHandshake(request);
            }
        }
    }

    /** Caches a chunk, and sends it; one whose handshake is not done yields to one whose handshake is. */
    private void goOn(SglangRequest request) {
        settlement.cacheChunk(request.handle());
        request.numPrefixTokens = request.end;
        var state = request.isHandshakePending ? request.requirePeer().poll() : Peer.State.TRANSFERRING;
        if (state == Peer.State.FAILED) {
            failHandshake(request);
            chunked = null;
            return;
        }
        if (state == Peer.State.BOOTSTRAPPING) {
            if (waiting.stream().anyMatch(other -> !other.isHandshakePending && !isAborted(other))) {
                chunked = null;
                if (!config.overlaps()) {
                    startAgain(request);
                }
            }
            return;
        }
        if (state == Peer.State.WAITING_FOR_INPUT) {
            finishHandshake(request);
        }
        if (config.overlaps()) {
            request.chunkEnd = Math.min(request.end, request.numPromptTokens());
        } else {
            send(request, false, request.end);
        }
    }

    /** Releases a prefill that has yielded, and queues it again: in front, or for its handshake. */
    private void startAgain(SglangRequest request) {
        settlement.cache(request.handle());
        release(request);
        request.reset();
        request.numOutputTokens = 0;
        request.numSentTokens = 0;
        request.isHandshakePending = true;
        if (request.numOptimisticAttempts >= role.optimisticPrefillAttempts()) {
            bootstrapQueue.add(request);
        } else {
            request.numOptimisticAttempts++;
            waiting.add(0, request);
        }
    }

    /** Sends what is not sent yet up to a token: whole pages, or with the last piece the rest ({@code send_kv_chunk}). */
    private void send(SglangRequest request, boolean isLast, int upTo) {
        int end = Math.min(upTo, request.numPromptTokens());
        if (!isLast) {
            end -= end % config.memory().pageSize();
        }
        int numPages = numPages(Math.max(0, end - request.numSentTokens));
        if (numPages == 0) {
            return;
        }
        plan.sent.add(new SglangPlan.Sent(request, numPages, isLast));
        request.numSentTokens = end;
        if (isLast) {
            request.requirePeer().onTransferBegun();
        }
    }

    /** Sends what the cache had, before the batch runs. */
    @Override
    void onPlanned(SglangPlan planned) {
        var batch = planned.batch();
        for (int i = 0; batch != null && i < batch.numPrefills(); i++) {
            var request = batch.request(i);
            if (!request.isHandshakePending && batch.numPrefixTokens(i) > request.numSentTokens) {
                send(request, false, batch.numPrefixTokens(i));
            }
        }
    }

    @Override
    public RadixSettlement update(SglangBatch executed, int[] numAccepted, Sampled sampled) {
        settlement.begin();
        for (int i = 0; i < executed.size(); i++) {
            var request = executed.request(i);
            if (request.numMiddleChunks <= 0) {
                request.numOutputTokens++;
                sampled.on(request, 1);
                settlement.cache(request.handle());
                inflightQueue.add(request);
                if (!request.isHandshakePending) {
                    send(request, true, request.end);
                }
                continue;
            }
            request.numMiddleChunks--;
            boolean goesOn = request == chunked || request.end >= request.numPromptTokens();
            if (request.isHandshakePending && !goesOn) {
                startAgain(request);
            } else if (!isAborted(request) && config.overlaps() && !request.isHandshakePending) {
                send(request, false, request.chunkEnd);
            }
        }
        return settlement.build();
    }

    /** Looks whose transfer has ended; what was computed is cached, whether it has arrived or not. */
    @Override
    public RadixSettlement endTurn() {
        settlement.begin();
        var ended = new ObjectArrayList<SglangRequest>();
        for (var request : List.copyOf(inflightQueue)) {
            var state = request.requirePeer().poll();
            if (request.isHandshakePending) {
                if (state == Peer.State.FAILED) {
                    inflightQueue.remove(request);
                    failHandshake(request);
                } else if (state == Peer.State.WAITING_FOR_INPUT) {
                    finishHandshake(request);
                    send(request, true, request.end);
                }
            } else if (state == Peer.State.SUCCESS || state == Peer.State.FAILED) {
                inflightQueue.remove(request);
                release(request);
                leave(request, state == Peer.State.FAILED);
                ended.add(request);
            }
        }
        ended.forEach(this::returnMetadata);
        return settlement.build();
    }
}
