package understudy.latency.tables;

import java.util.Optional;
import understudy.latency.WeightFormat;

/** Names that the database has for formats of numbers. */
final class Dtypes {
    static final String BF16 = "bfloat16";
    static final String FP8 = "fp8";
    static final String FP8_BLOCK = "fp8_block";
    static final String MXFP4 = "w4a16_mxfp4";
    static final String MXFP4_MXFP8 = "w4a8_mxfp4_mxfp8";

    private Dtypes() {}

    /** Returns the name of a format of linear layers, if there are tables of it. */
    static Optional<String> ofLinear(WeightFormat format) {
        return switch (format) {
            case BF16 -> Optional.of(BF16);
            case FP8 -> Optional.of(FP8);
            case FP8_BLOCK -> Optional.of(FP8_BLOCK);
            case NVFP4 -> Optional.of("nvfp4");
            case FP32, INT4, MXFP4, MXFP4_MARLIN -> Optional.empty();
        };
    }

    /** Returns the name of a format of experts, if there are tables of it. */
    static Optional<String> ofExperts(WeightFormat format) {
        return switch (format) {
            case INT4 -> Optional.of("int4_wo");
            case MXFP4, MXFP4_MARLIN -> Optional.of(MXFP4);
            case FP32, BF16, FP8, FP8_BLOCK, NVFP4 -> ofLinear(format);
        };
    }

    /** Returns the name of a KV cache's format. */
    static String ofKvCache(double bytesPerElement) {
        return bytesPerElement == 1 ? FP8 : BF16;
    }
}
