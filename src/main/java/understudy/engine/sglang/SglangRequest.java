package understudy.engine.sglang;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.engine.OutputSampler;
import understudy.engine.Request;
import understudy.kvcache.radix.RadixLookup;

/** Request inside SGLang's scheduler ({@code managers/schedule_batch.py}, {@code Req}). */
public final class SglangRequest {
    private final Request request;
    private final int handle;
    private final int numPromptTokens;
    private final boolean ignoresEos;
    private final String routingKey;
    private final OutputSampler sampler;
    final RadixLookup lookup;
    final boolean hasPriority;

    /** Priority, or the least preferred value if it has none and priorities count. */
    final long priority;

    /** Most output tokens. */
    int maxNewTokens;

    int numOutputTokens;

    /** Tokens that have their places ({@code len(prefix_indices)}), as of the last look. */
    int numPrefixTokens;

    /** Tokens that the request had when it was tried last ({@code len(fill_ids)}). */
    int numFillTokens;

    /** Tokens that the last batch goes up to. */
    int end;

    /** Row of the request table, or 0. */
    int slot;

    /** Chunks in flight behind which the prefill goes on ({@code inflight_middle_chunks}). */
    int numMiddleChunks;

    /** Number of the entry into the waiting queue. */
    long entry;

    boolean isFinished;
    boolean isRetracted;

    /** Whether an abort takes effect with the next token ({@code to_finish}). */
    boolean isAborting;

    /** Whether it ended by an abort or a failure. */
    boolean hasFailed;

    final @Nullable Peer peer;

    /** Whether the handshake with the other engine is still to be done. */
    boolean isHandshakePending;

    /** Prefills that were started before the handshake was done. */
    int numOptimisticAttempts;

    /** Prompt tokens that were sent. */
    int numSentTokens;

    /** Prompt tokens up to the end of the chunk before. */
    int chunkEnd;

    boolean hasMetadata;

    /** Whether a token has ended the answer. */
    boolean hasEnded;

    /** Creates a request that has reached the scheduler. */
    SglangRequest(SglangConfig config, Request request, Options options, int handle) {
        this.request = request;
        this.handle = handle;
        numPromptTokens = request.prompt().length();
        ignoresEos = options.ignoresEos();
        routingKey = options.routingKey();
        sampler = new OutputSampler(request.output());
        maxNewTokens = config.maxNewTokens(request.maxTokens(), numPromptTokens);
        hasPriority = options.priority() != null;
        var priorities = config.priorities();
        priority = options.priority() != null ? options.priority() : priorities.areOn() ? priorities.unset() : 0;
        lookup = RadixLookup.of(handle, request.prompt(), request.output().tokens(), priority);
        peer = options.peer();
    }

    /**
     * What SGLang's API says of a request besides.
     *
     * @param priority or null if it has none
     * @param routingKey or empty
     * @param peer the other engine of a disaggregated request, or null
     */
    public record Options(
            boolean ignoresEos,
            @Nullable Long priority,
            String routingKey,
            @Nullable Peer peer) {}

    public Request request() {
        return request;
    }

    public String name() {
        return request.name();
    }

    public int handle() {
        return handle;
    }

    public int numPromptTokens() {
        return numPromptTokens;
    }

    public int numOutputTokens() {
        return numOutputTokens;
    }

    public int numTokens() {
        return numPromptTokens + numOutputTokens;
    }

    public int slot() {
        return slot;
    }

    public boolean isFinished() {
        return isFinished;
    }

    public boolean hasFailed() {
        return hasFailed;
    }

    Peer requirePeer() {
        return Objects.requireNonNull(peer, "a disaggregated request has a peer");
    }

    boolean ignoresEos() {
        return ignoresEos;
    }

    String routingKey() {
        return routingKey;
    }

    /** Adds sampled tokens, and returns whether one of them ends the answer. */
    boolean sample(int count) {
        boolean isEnd = false;
        for (int i = 0; i < count; i++) {
            isEnd |= sampler.sample();
        }
        numOutputTokens += count;
        return isEnd && !ignoresEos;
    }

    /** Forgets what was computed. */
    void reset() {
        numPrefixTokens = 0;
        end = 0;
        numMiddleChunks = 0;
        isRetracted = true;
    }
}
