package understudy.engine.sglang;

/** Sizes that follow from the memory of a GPU ({@code server_args.py}). */
enum GpuSize {
    T4(20, 2048, 8, 8),
    A10(35, 2048, 24, 80),
    A100_40(60, 4096, 32, 160),
    H100(90, 8192, 256, 512),
    H200(160, 8192, 256, 512),
    B200(Integer.MAX_VALUE, 16_384, 512, 512);

    private final int belowGib;
    private final int chunkedPrefillSize;
    private final int maxGraphBatch;
    private final int maxGraphBatchOfFour;

    GpuSize(int belowGib, int chunkedPrefillSize, int maxGraphBatch, int maxGraphBatchOfFour) {
        this.belowGib = belowGib;
        this.chunkedPrefillSize = chunkedPrefillSize;
        this.maxGraphBatch = maxGraphBatch;
        this.maxGraphBatchOfFour = maxGraphBatchOfFour;
    }

    /** Returns the size of a GPU; without one it is an H100. */
    static GpuSize of(double memoryGib) {
        for (var size : values()) {
            if (memoryGib > 0 && memoryGib < size.belowGib) {
                return size;
            }
        }
        return H100;
    }

    int chunkedPrefillSize() {
        return chunkedPrefillSize;
    }

    /** Returns the most requests of a CUDA graph. */
    int maxGraphBatch(int tensorParallelSize) {
        return tensorParallelSize < 4 ? maxGraphBatch : maxGraphBatchOfFour;
    }
}
