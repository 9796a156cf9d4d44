package understudy.engine.sglang;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.FinishReason;
import understudy.engine.Request;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.radix.RadixLookup;

/** Request inside SGLang's scheduler ({@code managers/schedule_batch.py}, {@code Req}). */
public final class SglangRequest extends EngineRequest {
    private final String routingKey;
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

    /** Whether its sender has given it up; it is here until the scheduler has let go of it. */
    boolean isGivenUp;

    /** When it entered the waiting queue last. */
    long waitsSinceNanos;

    /** Whether it has its places since its last admission. */
    boolean isSeated;

    /** Tokens whose KV is there, or will be once the batches in flight have run. */
    int numComputedTokens;

    /** Whether it has a token that its sender was not told of, since it came with the KV of the prompt. */
    boolean hasUntoldToken;

    private int numNewTokens;
    private ExternalMatch external = ExternalMatch.NONE;

    /** Tokens of the last result that are behind the end of the answer. */
    private int numBehindEnd;

    private long lastStep;
    private int numPreemptions;
    private int numCachedTokens;
    private PrefixCacheEvents prefixCacheEvents = PrefixCacheEvents.NONE;
    private long scheduledNanos;
    private long firstTokenNanos;
    private long lastTokenNanos;

    /** Creates a request that has reached the scheduler. */
    public SglangRequest(SglangConfig config, Request request, Options options, int handle, long queuedNanos) {
        super(request, handle, queuedNanos);
        routingKey = options.routingKey();
        maxNewTokens = config.maxNewTokens(request.maxTokens(), numPromptTokens());
        hasPriority = options.priority() != null;
        var priorities = config.priorities();
        priority = options.priority() != null ? options.priority() : priorities.areOn() ? priorities.unset() : 0;
        lookup = RadixLookup.of(handle, request.prompt(), request.output().tokens(), priority);
        peer = options.peer();
        lastTokenNanos = isResumed() ? request.progress().lastTokenNanos() : 0;
    }

    /**
     * Options of a request that only SGLang's API has.
     *
     * @param priority or null if it has none
     * @param routingKey or empty
     * @param peer the other engine of a disaggregated request, or null
     */
    public record Options(
            @Nullable Long priority,
            String routingKey,
            @Nullable Peer peer) {}

    @Override
    public int numOutputTokens() {
        return numOutputTokens;
    }

    public int slot() {
        return slot;
    }

    @Override
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
        return request().sampling().ignoreEos();
    }

    String routingKey() {
        return routingKey;
    }

    /** Adds sampled tokens, and returns whether one of them ends the answer, other than by the number of tokens. */
    boolean sample(int count) {
        boolean isEnd = false;
        numBehindEnd = 0;
        for (int i = 0; i < count; i++) {
            boolean isEndOfSequence = sampler().sample();
            numOutputTokens++;
            numBehindEnd += isEnd ? 1 : 0;
            isEnd |= stopReason(isEndOfSequence, Integer.MAX_VALUE) == FinishReason.STOP;
        }
        numNewTokens = count;
        return isEnd;
    }

    /**
     * Cuts what verified drafts have brought behind the end of the answer, which the scheduler counts and its sender does not
     * see.
     *
     * @return how many of the last tokens are left, at least 1
     */
    int cutAnswer() {
        int numBehindLimit = numOutputTokens - maxNewTokens;
        hasEnded &= numBehindLimit <= numBehindEnd;
        int count = Math.max(numBehindEnd, Math.max(numBehindLimit, 0));
        numOutputTokens -= count;
        numNewTokens -= count;
        return numNewTokens;
    }

    /** Forgets the computed tokens. */
    void reset() {
        numPrefixTokens = 0;
        end = 0;
        numMiddleChunks = 0;
        numComputedTokens = 0;
        isRetracted = true;
        isSeated = false;
    }

    /** Counts its tokens in a batch, and records the batch's step. */
    void onScheduled(int numTokens, long step) {
        numComputedTokens += numTokens;
        lastStep = step;
    }

    /** Records the time of the first admission, and how many tokens the tree had. */
    void onAdmitted(int numFound, boolean isCaching, long atNanos) {
        scheduledNanos = atNanos;
        numCachedTokens = numFound;
        prefixCacheEvents = isCaching ? PrefixCacheEvents.ofContent(numFound, false) : PrefixCacheEvents.NONE;
    }

    /** Records the time at which it got places for the KV of its prompt, which another engine computes. */
    void onPlaced(long atNanos, long step) {
        scheduledNanos = atNanos;
        numCachedTokens = numPromptTokens();
        external = new ExternalMatch(numPromptTokens(), true, KvSource.PEER);
        isSeated = true;
        lastStep = step;
    }

    /** Counts a loss of its places. */
    void onPreempted() {
        numPreemptions++;
    }

    /** Records when tokens came; returns the nanoseconds since the one before, or -1 if they are the first. */
    long onTokens(int count, long atNanos) {
        boolean isFirst = numOutputTokens == count;
        if (isFirst && !isResumed()) {
            firstTokenNanos = atNanos;
        }
        long gap = isFirst && !isResumed() ? -1 : atNanos - lastTokenNanos;
        lastTokenNanos = atNanos;
        return gap;
    }

    @Override
    public int numNewTokens() {
        return numNewTokens;
    }

    @Override
    public int numComputedTokens() {
        return numComputedTokens;
    }

    @Override
    public long lastStep() {
        return lastStep;
    }

    @Override
    public int numPreemptions() {
        return numPreemptions;
    }

    @Override
    public int numCachedTokens() {
        return numCachedTokens;
    }

    @Override
    public ExternalMatch external() {
        return external;
    }

    @Override
    public PrefixCacheEvents prefixCacheEvents() {
        return prefixCacheEvents;
    }

    @Override
    public long scheduledNanos() {
        return scheduledNanos;
    }

    @Override
    public long firstTokenNanos() {
        return firstTokenNanos;
    }

    @Override
    public long lastTokenNanos() {
        return lastTokenNanos;
    }

    @Override
    public @Nullable FinishReason finishReason() {
        if (!isFinished) {
            return null;
        }
        return hasFailed ? FinishReason.ABORT : hasEnded ? FinishReason.STOP : FinishReason.LENGTH;
    }
}
