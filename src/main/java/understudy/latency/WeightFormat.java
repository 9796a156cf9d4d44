package understudy.latency;

/** Storage format of the weights of matrix products, and the precision in which they are multiplied. */
public enum WeightFormat {
    /** Four bytes, multiplied in TF32, at half the rate of BF16. */
    FP32(4),
    /** Two bytes; FP16 is the same to this model. */
    BF16(2),
    /** One byte, multiplied in FP8 with FP8 activations where the GPU can, else in BF16. */
    FP8(1),
    /** FP8 with a scale for each block of 128 x 128 weights. */
    FP8_BLOCK(1),
    /** Four bits and the scales of small groups, multiplied in BF16: AWQ or GPTQ with groups of 32 to 128. */
    INT4(0.53),
    /** Four-bit floats and a scale of eight bits for every 32 of them; dense products count as multiplied in BF16. */
    MXFP4(0.53),
    /** MXFP4 whose experts Marlin's kernels multiply in BF16, as with {@code VLLM_MXFP4_USE_MARLIN=1} of vLLM. */
    MXFP4_MARLIN(0.53),
    /** Four-bit floats and a scale of eight bits for every 16 of them, multiplied in FP4 where the GPU can, else in BF16. */
    NVFP4(0.5625);

    private final double bytes;

    WeightFormat(double bytes) {
        this.bytes = bytes;
    }

    /** Returns the bytes per weight. */
    public double bytes() {
        return bytes;
    }

    /** Returns whether weights are multiplied in FP8. */
    boolean isFp8() {
        return this == FP8 || this == FP8_BLOCK;
    }

    /** Returns whether inputs of a product are quantized for it. */
    boolean quantizesActivations() {
        return isFp8() || this == NVFP4;
    }

    /** Returns whether a weight takes four bits beside scales. */
    boolean hasFourBits() {
        return this == INT4 || this == MXFP4 || this == MXFP4_MARLIN || this == NVFP4;
    }

    /** Returns the bytes per weight of what is never quantized: embeddings, head and router. */
    double unquantizedBytes() {
        return Math.max(bytes, BF16.bytes);
    }
}
