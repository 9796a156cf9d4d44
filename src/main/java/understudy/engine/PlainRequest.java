package understudy.engine;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.Admission;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.connector.ExternalMatch;

/** Request of a {@link PlainEngine}: it is admitted once, keeps its blocks, and gets one token at a time. */
public final class PlainRequest extends EngineRequest {
    private int numOutputTokens;
    private int numComputedTokens;
    private long lastStep;
    private int numCachedTokens;
    private ExternalMatch external = ExternalMatch.NONE;
    private PrefixCacheEvents prefixCacheEvents = PrefixCacheEvents.NONE;
    private long scheduledNanos;
    private long firstTokenNanos;
    private long lastTokenNanos;
    private @Nullable FinishReason finishReason;

    PlainRequest(Request request, int handle, long queuedNanos) {
        super(request, handle, queuedNanos);
        lastTokenNanos = isResumed() ? request.progress().lastTokenNanos() : 0;
    }

    /** Takes over the tokens that the memory has found and scheduled. */
    void onAdmitted(Admission.Admitted admission, long atNanos) {
        // After a full hit the last token is run as a decode, for the logits of the first answer token, unless they are
        // here.
        int numToRun = Math.min(1, admission.numScheduledTokens());
        numComputedTokens = Math.min(admission.numCachedTokens(), numTokens() - numToRun);
        scheduledNanos = atNanos;
        numCachedTokens = admission.numCachedTokens();
        external = admission.external();
        prefixCacheEvents = admission.events();
    }

    /** Counts scheduled tokens as computed. */
    void onScheduled(int numTokens, long step) {
        lastStep = step;
        numComputedTokens += numTokens;
    }

    /** Samples the next token, and returns why the answer ends with it, or null if it goes on. */
    @Nullable FinishReason sample(long atNanos, int maxModelLen) {
        if (numOutputTokens == 0 && !isResumed()) {
            firstTokenNanos = atNanos;
        }
        lastTokenNanos = atNanos;
        boolean isEndOfSequence = sampler().sample();
        numOutputTokens++;
        return stopReason(isEndOfSequence, maxModelLen);
    }

    void end(FinishReason reason) {
        finishReason = reason;
    }

    @Override
    public int numOutputTokens() {
        return numOutputTokens;
    }

    @Override
    public int numNewTokens() {
        return 1;
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
        return 0;
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
        return finishReason;
    }
}
