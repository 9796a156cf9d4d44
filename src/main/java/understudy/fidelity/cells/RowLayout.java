package understudy.fidelity.cells;

import java.util.List;

/**
 * How the GPUs of a row share the work.
 *
 * @param tensorParallelSize GPUs of a rank
 * @param dataParallelSize ranks
 * @param moeTensorParallelSize GPUs that share each expert, or 0
 * @param expertParallelSize groups of GPUs that share all experts, or 0
 * @param assumed what is read otherwise than it stands in the row
 */
record RowLayout(
        int tensorParallelSize,
        int dataParallelSize,
        int moeTensorParallelSize,
        int expertParallelSize,
        List<String> assumed) {

    /**
     * Reads the sizes of a row. Rows of one table mean {@code tp_size} in two ways: the GPUs of a rank, or all GPUs, over which
     * the ranks are spread, as SGLang's {@code --tp-size} does beside {@code --dp-size}. The latter it is where experts are
     * on {@code tp_size} GPUs, and where {@code tp_size} equals {@code attention_dp_size} and {@code moe_ep_size} is their
     * product, which no server of so many GPUs was.
     */
    static RowLayout of(int tp, int dp, int moeTp, int moeEp) {
        boolean isProduct = tp == dp && moeEp == tp * dp;
        if (dp > 1 && tp % dp == 0 && (isProduct || moeTp * moeEp == tp)) {
            int rank = tp / dp;
            return new RowLayout(
                    rank,
                    dp,
                    moeTp,
                    isProduct ? tp : moeEp,
                    List.of("tp_size " + tp + ", attention_dp_size " + dp + ", moe_ep_size " + moeEp + " are " + tp
                            + " GPUs: " + dp + " ranks of " + rank));
        }
        return new RowLayout(tp, dp, moeTp, moeEp, List.of());
    }
}
