package understudy.engine;

import understudy.engine.queue.QueuedRequest;
import understudy.kvcache.PrefixLookup;
import understudy.prompt.TokenSequence;

/** The part of a request inside a scheduler that does not change. */
abstract class IdentifiedRequest implements QueuedRequest {
    private final Request request;
    private final int handle;
    private final int numPromptTokens;
    private final int maxTotalTokens;

    IdentifiedRequest(Request request, int handle) {
        this.request = request;
        this.handle = handle;
        numPromptTokens = request.prompt().length();
        maxTotalTokens = numPromptTokens + request.maxTokens();
    }

    /** Status of a request in the scheduler. */
    enum Status {
        /** In a waiting queue, never scheduled. */
        WAITING,
        /** In a waiting queue, with blocks into which its KV is being loaded. */
        WAITING_FOR_REMOTE_KVS,
        /** In the running list. */
        RUNNING,
        /** In a waiting queue again, without blocks, with the output it had. */
        PREEMPTED,
        /** Removed from the scheduler. */
        FINISHED
    }

    public Request request() {
        return request;
    }

    /** Returns the small number that names the request to the KV cache. */
    public int handle() {
        return handle;
    }

    @Override
    public long id() {
        return request.id();
    }

    @Override
    public String name() {
        return request.name();
    }

    @Override
    public int priority() {
        return request.priority();
    }

    @Override
    public long arrivalNanos() {
        return request.arrivalNanos();
    }

    @Override
    public int numPromptTokens() {
        return numPromptTokens;
    }

    @Override
    public TokenSequence promptTokens() {
        return request.prompt().tokens();
    }

    /** Returns the tokens the request has when its answer is as long as it may be. */
    int maxTotalTokens() {
        return maxTotalTokens;
    }

    PrefixLookup lookup(int numTokens) {
        boolean readsCache = !request.sampling().skipReadingPrefixCache();
        return new PrefixLookup(handle, request.prompt(), request.output().tokens(), numTokens, readsCache);
    }

    /** Returns whether the answer has begun on another replica. */
    boolean isResumed() {
        return request.earlier() != null;
    }
}
