package understudy.engine.sglang;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Batch of one turn; fixed once it is planned ({@code ScheduleBatch}). */
public final class SglangBatch {
    private final Mode mode;
    private final ObjectArrayList<SglangRequest> requests;
    private final int[] numTokens;
    private final int[] numPrefixTokens;
    private final int numPrefills;
    final @Nullable SglangRequest chunked;
    final long forward;

    /** Kind of a batch ({@code ForwardMode}). */
    public enum Mode {
        /** Prefill. */
        EXTEND,
        /** One step of running requests. */
        DECODE,
        /** Prefill that takes the running requests along. */
        MIXED;

        private final String word = name().toLowerCase(Locale.ROOT);

        /** Returns how a batch of this kind is called. */
        public String word() {
            return word;
        }
    }

    SglangBatch(
            Mode mode,
            ObjectArrayList<SglangRequest> requests,
            int[] numTokens,
            int[] numPrefixTokens,
            @Nullable SglangRequest chunked,
            long forward) {
        this.mode = mode;
        this.requests = requests;
        this.numTokens = numTokens;
        this.numPrefixTokens = numPrefixTokens;
        this.numPrefills = numPrefixTokens.length;
        this.chunked = chunked;
        this.forward = forward;
    }

    public Mode mode() {
        return mode;
    }

    /** Returns the requests in order; in a mixed batch the running ones are behind. */
    public List<SglangRequest> requests() {
        return requests;
    }

    public int size() {
        return requests.size();
    }

    public SglangRequest request(int index) {
        return requests.get(index);
    }

    /** Returns how many tokens a request computes. */
    public int numTokens(int index) {
        return index < numTokens.length ? numTokens[index] : 1;
    }

    /** Returns how many requests are in their prefill. */
    public int numPrefills() {
        return numPrefills;
    }

    /** Returns how many tokens of a request in its prefill are there already. */
    public int numPrefixTokens(int index) {
        return numPrefixTokens[index];
    }
}
