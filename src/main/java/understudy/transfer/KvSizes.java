package understudy.transfer;

/**
 * Sizes of a replica's KV, from which follows how long it takes to move some.
 *
 * @param numGpus at least 1
 * @param bytesPerBlockPerGpu bytes of a KV block on one GPU
 * @param bytesPerBlock bytes of a KV block on all GPUs, what each of them has a copy of counted once
 * @param bytesPerChunk bytes of a chunk of host memory, likewise
 * @param bytesPerState bytes of what a sequence has beside blocks, such as states of linear attention, on all GPUs
 * @param numLayers layers that have a KV cache
 */
public record KvSizes(
        int numGpus,
        long bytesPerBlockPerGpu,
        long bytesPerBlock,
        long bytesPerChunk,
        long bytesPerState,
        int numLayers) {}
