package understudy.latency.tables;

/**
 * Figures of a GPU in the database.
 *
 * @param bytesPerMicro that element-wise kernels move
 * @param bf16FlopPerMicro peak
 * @param fp8FlopPerMicro peak, 0 without FP8
 * @param fp4FlopPerMicro peak, 0 without FP4
 * @param smVersion 90 for Hopper, 100 to 109 for Blackwell in data centres
 */
record GpuData(
        double bytesPerMicro, double bf16FlopPerMicro, double fp8FlopPerMicro, double fp4FlopPerMicro, int smVersion) {
    private static final int HOPPER = 90;
    private static final int BLACKWELL = 100;

    boolean isHopper() {
        return smVersion == HOPPER;
    }

    boolean isBlackwell() {
        return smVersion / 10 == BLACKWELL / 10;
    }

    /** Returns the highest rate at which products of a format can be computed. */
    double flopPerMicro(String dtype) {
        return switch (dtype) {
            case "bfloat16" -> bf16FlopPerMicro;
            case "nvfp4" -> fp4FlopPerMicro;
            default -> fp8FlopPerMicro;
        };
    }
}
