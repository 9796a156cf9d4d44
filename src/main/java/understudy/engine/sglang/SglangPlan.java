package understudy.engine.sglang;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decisions of one turn: the batch to run, and the requests that moved between queues. */
public final class SglangPlan {
    @Nullable SglangBatch batch;

    final ObjectArrayList<SglangRequest> retracted = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> preempted = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> lost = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> outOfMemory = new ObjectArrayList<>();
    final ObjectArrayList<TurnedAway> turnedAway = new ObjectArrayList<>();
    final ObjectArrayList<Tried> tried = new ObjectArrayList<>();
    final ObjectArrayList<Sent> sent = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> bootstrapped = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> resumed = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> preallocated = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> transferred = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> queued = new ObjectArrayList<>();
    final ObjectArrayList<SglangRequest> prebuilt = new ObjectArrayList<>();
    long loadNanos;

    /** Tokens that are computed of prompts, and those of them that are pieces of a prompt for which one step is too short. */
    int numPrefillTokens;

    int numChunkTokens;
    int numHitTokens;
    int numInputTokens;

    /**
     * Request for which there is no room in the queue.
     *
     * @param isForOther whether it waited, and makes way for a more important one
     */
    public record TurnedAway(SglangRequest request, boolean isForOther) {}

    /** Pages that were sent to the other engine, or places that were announced to it. */
    public record Sent(SglangRequest request, int numPages, boolean isLast) {}

    /**
     * Trial of a waiting request.
     *
     * @param numPrefixTokens tokens found on the device
     * @param hostHit tokens found on the host behind them
     */
    public record Tried(SglangRequest request, int numPrefixTokens, int hostHit, AddResult result) {}

    void clear() {
        batch = null;
        retracted.clear();
        preempted.clear();
        lost.clear();
        outOfMemory.clear();
        turnedAway.clear();
        tried.clear();
        sent.clear();
        bootstrapped.clear();
        resumed.clear();
        preallocated.clear();
        transferred.clear();
        queued.clear();
        prebuilt.clear();
        loadNanos = 0;
        numPrefillTokens = 0;
        numChunkTokens = 0;
        numHitTokens = 0;
        numInputTokens = 0;
    }

    /** Returns the batch to run, or null if there is none. */
    public @Nullable SglangBatch batch() {
        return batch;
    }

    /** Returns the running requests that had to give up their places so that others can go on, in order. */
    public List<SglangRequest> retracted() {
        return retracted;
    }

    /** Returns the running requests that had to give up their places to more important ones, in order. */
    public List<SglangRequest> preempted() {
        return preempted;
    }

    /** Returns those of them that will never run again. */
    public List<SglangRequest> lost() {
        return lost;
    }

    /** Returns requests that were aborted because they do not fit even alone. */
    public List<SglangRequest> outOfMemory() {
        return outOfMemory;
    }

    /** Returns the requests that were aborted because one that had lost its places came back to a full queue. */
    public List<TurnedAway> turnedAway() {
        return turnedAway;
    }

    /** Returns the waiting requests that were tried, in order. */
    public List<Tried> tried() {
        return tried;
    }

    /** Returns the tokens of a prefill batch that were there already ({@code log_hit_tokens}). */
    public int numHitTokens() {
        return numHitTokens;
    }

    /** Returns the tokens of a prefill batch that are computed, in whole pages ({@code log_input_tokens}). */
    public int numInputTokens() {
        return numInputTokens;
    }

    /** Returns the pages sent, and the places announced, up to now. */
    public List<Sent> sent() {
        return sent;
    }

    /** Returns the requests whose handshake is done now, or need not be done, of a prefill engine. */
    public List<SglangRequest> bootstrapped() {
        return bootstrapped;
    }

    /** Returns the retracted requests that have their places again, of a decode engine. */
    public List<SglangRequest> resumed() {
        return resumed;
    }

    /** Returns the requests that got places for the KV of their prompts, of a decode engine. */
    public List<SglangRequest> preallocated() {
        return preallocated;
    }

    /** Returns the requests whose KV has arrived, of a decode engine. */
    public List<SglangRequest> transferred() {
        return transferred;
    }

    /** Returns who waited before the prebuilt batch, of a decode engine. */
    public List<SglangRequest> queued() {
        return queued;
    }

    /** Returns who was in the prebuilt batch, of a decode engine. */
    public List<SglangRequest> prebuilt() {
        return prebuilt;
    }
}
