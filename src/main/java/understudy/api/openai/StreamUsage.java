package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import understudy.api.call.CallFormat;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;

/** Counts the tokens of a stream, and writes them into its chunks as far as they are asked for. */
public final class StreamUsage {
    private final CallInfo call;
    private final IntOpenHashSet begun = new IntOpenHashSet();
    private int numPromptTokens;
    private int numCompletionTokens;
    private int numCachedTokens;

    /** Counts nothing yet. */
    public StreamUsage(CallInfo call) {
        this.call = call;
    }

    /** Counts a piece, and returns whether it is the first one of its answer. */
    public boolean add(Generation generation, Delta delta) {
        var spec = generation.spec();
        boolean isFirst = begun.add(delta.choice());
        boolean countsPrompt = spec.choice() % spec.params().n() == 0;
        numPromptTokens += isFirst && countsPrompt ? spec.prompt().length() : 0;
        numCompletionTokens += delta.toToken() - delta.fromToken();
        if (delta.ending() != null && countsPrompt) {
            numCachedTokens += delta.ending().numCachedTokens();
        }
        return isFirst;
    }

    /** Returns what was counted so far. */
    public Usage total() {
        return new Usage(numPromptTokens, numCompletionTokens, numCachedTokens);
    }

    /** Adds the counts of one answer so far to a chunk, if they are wanted in every chunk. */
    void addTo(ObjectNode chunk, Generation generation, Delta delta) {
        if (call.params().continuousUsage()) {
            int numPrompt = generation.spec().prompt().length();
            chunk.set("usage", new Usage(numPrompt, delta.toToken(), 0).counts());
        }
    }

    /** Returns the last chunk, if usage is wanted, and the end of the stream. */
    String end(String object) {
        if (!call.params().includesUsage()) {
            return CallFormat.DONE;
        }
        var chunk = call.open(object);
        chunk.putArray("choices");
        chunk.set("usage", total().last());
        return CallFormat.event(chunk) + CallFormat.DONE;
    }
}
