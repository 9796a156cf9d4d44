package understudy.api.call;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.cluster.RequestEvent;

/**
 * Admission of calls before their requests go to the engine (vLLM {@code AsyncLLM.check_admission}): all replicas of a server
 * count together, and a call with several answers or prompts is let in as a whole or not at all. A prompt counts in full until
 * its first token, whatever of it is cached or computed. Thread-safe.
 */
public final class AdmissionControl {
    private final AdmissionLimits limits;
    private final Consumer<Reason> onRefused;
    private final LongOpenHashSet unfinished = new LongOpenHashSet();
    private final LongOpenHashSet prefilling = new LongOpenHashSet();
    private long numPrefillTokens;

    /** Limit that was reached, with what vLLM tells the client then. */
    public enum Reason {
        /** {@code QueueOverflowError}. */
        MAX_NUM_QUEUED_REQS("The engine is currently busy and cannot accept new requests."),
        /** {@code MaxQueuedTokensError}. */
        MAX_NUM_QUEUED_TOKENS("The engine has reached its prefill token backlog limit.");

        private final String message;

        Reason(String message) {
            this.message = message + " Please try again later or on a different instance.";
        }

        ApiException failure() {
            return new ApiException(503, "Service Unavailable", message, null);
        }
    }

    /**
     * Creates a control over a server without requests.
     *
     * @param onRefused is told of each call that is turned away
     */
    public AdmissionControl(AdmissionLimits limits, Consumer<Reason> onRefused) {
        this.limits = limits;
        this.onRefused = onRefused;
    }

    /** Returns whether it must be told of first tokens. */
    boolean needsFirstTokens() {
        return limits.maxNumQueuedTokens() > 0;
    }

    /** Counts the requests of a call, or returns why it is turned away. */
    @Nullable ApiException admit(List<Generation> generations) {
        if (!limits.areOn()) {
            return null;
        }
        var reason = count(generations);
        if (reason == null) {
            return null;
        }
        onRefused.accept(reason);
        return reason.failure();
    }

    private synchronized @Nullable Reason count(List<Generation> generations) {
        int maxRequests = limits.maxNumQueuedReqs();
        if (maxRequests > 0 && unfinished.size() + generations.size() > maxRequests) {
            return Reason.MAX_NUM_QUEUED_REQS;
        }
        if (limits.maxNumQueuedTokens() > 0 && numPrefillTokens >= limits.maxNumQueuedTokens()) {
            return Reason.MAX_NUM_QUEUED_TOKENS;
        }
        for (var generation : generations) {
            unfinished.add(generation.id());
            prefilling.add(generation.id());
            numPrefillTokens += generation.spec().prompt().length();
        }
        return null;
    }

    /** Takes over what has happened to a request. */
    void on(RequestEvent event, Generation generation) {
        boolean isOver = event instanceof RequestEvent.Ended || event instanceof RequestEvent.Rejected;
        if (limits.areOn() && (isOver || event instanceof RequestEvent.Token)) {
            discount(generation, isOver);
        }
    }

    private synchronized void discount(Generation generation, boolean isOver) {
        if (prefilling.remove(generation.id())) {
            numPrefillTokens -= generation.spec().prompt().length();
        }
        if (isOver) {
            unfinished.remove(generation.id());
        }
    }
}
