package understudy.scenario;

import java.util.OptionalInt;
import understudy.kvcache.PrefixUnit;
import understudy.scenario.keys.Section;

/** Those sizes of an engine that follow from each other and from the hardware, where the scenario leaves them open. */
final class EngineSizes {
    static final String MAX_NUM_SEQS = "max-num-seqs";
    static final String MAX_NUM_BATCHED_TOKENS = "max-num-batched-tokens";
    static final String MAX_MODEL_LEN = "max-model-len";
    static final String NUM_GPU_BLOCKS = "num-gpu-blocks";
    static final int MAX_TOKENS = 100_000_000;

    private static final int MAX_BLOCKS = 100_000_000;
    private static final int MAX_SEQS = 1_000_000;
    private static final int MIN_MODEL_LEN = 2;

    /** Its {@code max_batch_size}. */
    private static final int ROSEINFER_BATCH_SIZE = 8;

    private final Section engine;
    private final Section kvCache;
    private final Deployment deployment;
    private final PrefixUnit prefixUnit;
    private final int blockSize;
    private final boolean chunksPrefills;
    private final OptionalInt givenSeqs;
    private final OptionalInt givenBatchedTokens;
    private final OptionalInt givenModelLen;
    private final OptionalInt givenBlocks;

    EngineSizes(Section engine, Section kvCache, PrefixUnit prefixUnit, Deployment deployment) {
        this.engine = engine;
        this.kvCache = kvCache;
        this.deployment = deployment;
        this.prefixUnit = prefixUnit;
        blockSize = kvCache.wholeNumber("block-size", 1, 4096);
        chunksPrefills = engine.bool("enable-chunked-prefill");
        givenSeqs = engine.numberOrAuto(MAX_NUM_SEQS, 1, MAX_SEQS);
        givenBatchedTokens = engine.numberOrAuto(MAX_NUM_BATCHED_TOKENS, 1, MAX_TOKENS);
        givenModelLen = engine.numberOrAuto(MAX_MODEL_LEN, MIN_MODEL_LEN, MAX_TOKENS);
        givenBlocks = kvCache.numberOrAuto(NUM_GPU_BLOCKS, prefixUnit.minBlocks(), MAX_BLOCKS);
    }

    int pipelineParallelSize() {
        return deployment.pipelineParallelSize();
    }

    int blockSize() {
        return blockSize;
    }

    int numGpuBlocks() {
        int numGpuBlocks = givenBlocks.orElseGet(
                () -> Math.min(MAX_BLOCKS, deployment.numGpuBlocks(kvCache, tokensToReserve(), blockSize)));
        if (prefixUnit.maxTokens(numGpuBlocks, blockSize) < MIN_MODEL_LEN) {
            throw kvCache.unusable(
                    NUM_GPU_BLOCKS,
                    "which leaves no room for a request: one block is vLLM's null block, and a block holds " + blockSize
                            + " tokens");
        }
        return numGpuBlocks;
    }

    /** Returns the token budget that memory is set aside for, or 0 if the number of blocks is given. */
    int reservedTokens() {
        return givenBlocks.isPresent() ? 0 : tokensToReserve();
    }

    private int tokensToReserve() {
        return givenBatchedTokens.orElseGet(() -> usualBudget(givenModelLen.orElse(deployment.defaultMaxModelLen())));
    }

    private int usualBudget(int maxModelLen) {
        int usual = deployment.defaultMaxNumBatchedTokens();
        return chunksPrefills ? usual : Math.max(usual, maxModelLen);
    }

    /** As in vLLM, a request of this length must fit into an empty cache. */
    int maxModelLen(int numGpuBlocks) {
        long maxKvTokens = prefixUnit.maxTokens(numGpuBlocks, blockSize);
        int maxModelLen = givenModelLen.orElseGet(() -> (int) Math.min(deployment.defaultMaxModelLen(), maxKvTokens));
        if (maxModelLen > maxKvTokens) {
            throw engine.unusable(
                    MAX_MODEL_LEN,
                    "but the KV cache holds " + maxKvTokens + " tokens; raise kv-cache.num-gpu-blocks or lower it");
        }
        return maxModelLen;
    }

    int roseinferBatchSize() {
        return givenSeqs.orElse(ROSEINFER_BATCH_SIZE);
    }

    /** As in vLLM, a default gives way to a smaller token budget, and a number of the user's does not. */
    int maxNumSeqs() {
        return givenSeqs.orElseGet(() -> Math.min(deployment.defaultMaxNumSeqs(), givenBatchedTokens.orElse(MAX_SEQS)));
    }

    /** The defaults and checks of vLLM's {@code EngineArgs}. */
    int maxNumBatchedTokens(int maxModelLen) {
        int maxNumSeqs = maxNumSeqs();
        if (givenBatchedTokens.isEmpty()) {
            long most = Math.min((long) maxNumSeqs * maxModelLen, usualBudget(maxModelLen));
            return Math.max(maxNumSeqs, (int) most);
        }
        int maxNumBatchedTokens = givenBatchedTokens.getAsInt();
        if (maxNumBatchedTokens < maxNumSeqs) {
            throw engine.unusable(MAX_NUM_BATCHED_TOKENS, "must be at least max-num-seqs, which is " + maxNumSeqs);
        }
        if (!chunksPrefills && maxNumBatchedTokens < maxModelLen) {
            throw engine.unusable(
                    MAX_NUM_BATCHED_TOKENS,
                    "must be at least max-model-len, which is " + maxModelLen + ", since prefills are not chunked");
        }
        return maxNumBatchedTokens;
    }
}
