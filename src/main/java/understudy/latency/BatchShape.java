package understudy.latency;

import java.util.Arrays;

/**
 * Shape of a step's batch, as far as its duration depends on it: decodes by their number and sum, with the drafts that
 * they verify, prefill chunks one by one. Immutable.
 */
public final class BatchShape {
    private static final int[] NO_CHUNKS = {};

    private final int numDecodes;
    private final int numDraftTokens;
    private final long decodeKvTokens;
    private final ContextHistogram.Counted decodeContexts;
    private final int[] chunkTokens;
    private final int[] chunkContextTokens;
    private final int numPrefillTokens;
    private final int numSampled;
    private final int numGroupTokens;
    private final boolean isBesidePrefill;
    private final Loras loras;
    private final long loadNanos;

    /**
     * LoRA adapters of a step.
     *
     * @param numAdapters different ones among its sequences
     * @param numTokens new tokens of the sequences that have one
     * @param numLoads adapters that are read from disk before it runs
     * @param numActivations adapters that are copied to the GPU before it runs
     */
    public record Loras(int numAdapters, int numTokens, int numLoads, int numActivations) {
        public static final Loras NONE = new Loras(0, 0, 0, 0);
    }

    private BatchShape(Builder builder) {
        numDecodes = builder.numDecodes;
        numDraftTokens = builder.numDraftTokens;
        decodeKvTokens = builder.decodeKvTokens;
        decodeContexts = builder.decodeContexts.copy();
        int numChunks = builder.numChunks;
        chunkTokens = numChunks == 0 ? NO_CHUNKS : Arrays.copyOf(builder.chunkTokens, numChunks);
        chunkContextTokens = numChunks == 0 ? NO_CHUNKS : Arrays.copyOf(builder.chunkContextTokens, numChunks);
        numPrefillTokens = builder.numPrefillTokens;
        numSampled = builder.numSampled;
        numGroupTokens = 0;
        isBesidePrefill = false;
        loras = builder.loras;
        loadNanos = builder.loadNanos;
    }

    private BatchShape(BatchShape batch, int numGroupTokens, boolean isBesidePrefill) {
        numDecodes = batch.numDecodes;
        numDraftTokens = batch.numDraftTokens;
        decodeKvTokens = batch.decodeKvTokens;
        decodeContexts = batch.decodeContexts;
        chunkTokens = batch.chunkTokens;
        chunkContextTokens = batch.chunkContextTokens;
        numPrefillTokens = batch.numPrefillTokens;
        numSampled = batch.numSampled;
        this.numGroupTokens = numGroupTokens;
        this.isBesidePrefill = isBesidePrefill;
        loras = batch.loras;
        loadNanos = batch.loadNanos;
    }

    /**
     * Returns the same batch beside those of other ranks of a data-parallel group.
     *
     * @param numTokens new tokens of all of them
     * @param hasPrefill whether one of them, or this one, is a prefill
     */
    public BatchShape inGroupOf(int numTokens, boolean hasPrefill) {
        return new BatchShape(this, numTokens, hasPrefill);
    }

    /** Returns whether it, or that of another rank, is known to be a prefill, by engines that have batches of decodes alone. */
    boolean isBesidePrefill() {
        return isBesidePrefill;
    }

    /** Returns the sequences that compute exactly one token, drafts aside. */
    public int numDecodes() {
        return numDecodes;
    }

    /** Returns the drafts that decodes verify, besides their own tokens. */
    public int numDraftTokens() {
        return numDraftTokens;
    }

    /** Returns the sum over decodes of the tokens they attend to: those in the KV cache and the new ones. */
    public long decodeKvTokens() {
        return decodeKvTokens;
    }

    /**
     * Returns the tokens of the longest decodes that are read while fewer than so many decodes are left, each by the share
     * of readers that has nothing to do; decodes of like length, between the same powers of two, count as equally long.
     */
    double idleDecodeKvTokens(double numReaders) {
        return decodeContexts.idleTokens(numReaders);
    }

    /**
     * Returns the same sum when each decode attends to at most {@code window} tokens; exact for a power of two, and
     * else at most too large by what sequences between the powers of two around it differ in length.
     */
    public double decodeKvTokensWithin(int window) {
        return decodeContexts.sumWithin(window);
    }

    /** Returns the sequences that compute more than one token, all of them known. */
    public int numChunks() {
        return chunkTokens.length;
    }

    /** Returns the new tokens of a chunk, at least 2. */
    public int chunkTokens(int chunk) {
        return chunkTokens[chunk];
    }

    /** Returns the tokens of a chunk's sequence that are in the KV cache already. */
    public int chunkContextTokens(int chunk) {
        return chunkContextTokens[chunk];
    }

    /** Returns the new tokens of all chunks together. */
    public int numPrefillTokens() {
        return numPrefillTokens;
    }

    /** Returns all new tokens of the step. */
    public int numTokens() {
        return numPrefillTokens + numDecodes + numDraftTokens;
    }

    /**
     * Returns the new tokens of all ranks of a data-parallel group in the step; if the group's sum is unknown, those of
     * so many ranks like this one.
     */
    public int numGroupTokens(int dataParallelSize) {
        return numGroupTokens > 0 ? numGroupTokens : dataParallelSize * numTokens();
    }

    /** Returns the sequences in the batch. */
    public int numSequences() {
        return numDecodes + chunkTokens.length;
    }

    /** Returns how many tokens' logits are made at the end of the step: one for each sequence that samples, or draft. */
    public int numSampled() {
        return numSampled;
    }

    /** Returns the LoRA adapters of the step. */
    public Loras loras() {
        return loras;
    }

    /** Returns how long the copies from the host take for whose layers the step waits as it runs. */
    public long loadNanos() {
        return loadNanos;
    }

    /** Collects a batch; reused from step to step. */
    public static final class Builder {
        private int numDecodes;
        private int numDraftTokens;
        private long decodeKvTokens;
        private final ContextHistogram decodeContexts = new ContextHistogram();
        private int[] chunkTokens = new int[8];
        private int[] chunkContextTokens = new int[8];
        private int numChunks;
        private int numPrefillTokens;
        private int numSampled;
        private Loras loras = Loras.NONE;
        private long loadNanos;

        /**
         * Adds a sequence.
         *
         * @param numTokens new tokens, at least 1
         * @param numContextTokens tokens in the KV cache already
         * @param isSampled whether it samples a token at the end of the step
         */
        public void add(int numTokens, int numContextTokens, boolean isSampled) {
            if (numTokens == 1) {
                addDecode(numContextTokens + 1);
            } else {
                addChunk(numTokens, numContextTokens);
            }
            numSampled += isSampled ? 1 : 0;
        }

        /** Adds a decode that verifies drafts, at least 1: it reads its context once for all of them. */
        public void addVerification(int numDrafts, int numContextTokens) {
            addDecode(numContextTokens + 1 + numDrafts);
            numDraftTokens += numDrafts;
            numSampled += 1 + numDrafts;
        }

        private void addDecode(int numKvTokens) {
            numDecodes++;
            decodeKvTokens += numKvTokens;
            decodeContexts.add(numKvTokens, 1);
        }

        /** Adds sequences that compute one token each, and sample the next. */
        public void addDecodes(GrowingContexts contexts) {
            numDecodes += contexts.size();
            decodeKvTokens += contexts.sum();
            decodeContexts.addAll(contexts.lengths());
            numSampled += contexts.size();
        }

        /** Says which LoRA adapters the sequences have. */
        public void setLoras(Loras adapters) {
            loras = adapters;
        }

        /** Says how long the copies from the host take for whose layers the step waits as it runs. */
        public void setLoadNanos(long nanos) {
            loadNanos = nanos;
        }

        /** Forgets all sequences. */
        public void clear() {
            numDecodes = 0;
            numDraftTokens = 0;
            decodeKvTokens = 0;
            decodeContexts.clear();
            numChunks = 0;
            numPrefillTokens = 0;
            numSampled = 0;
            loras = Loras.NONE;
            loadNanos = 0;
        }

        /** Returns the collected shape. */
        public BatchShape build() {
            return new BatchShape(this);
        }

        private void addChunk(int numTokens, int numContextTokens) {
            if (numChunks == chunkTokens.length) {
                chunkTokens = Arrays.copyOf(chunkTokens, numChunks * 2);
                chunkContextTokens = Arrays.copyOf(chunkContextTokens, numChunks * 2);
            }
            chunkTokens[numChunks] = numTokens;
            chunkContextTokens[numChunks] = numContextTokens;
            numChunks++;
            numPrefillTokens += numTokens;
        }
    }
}
