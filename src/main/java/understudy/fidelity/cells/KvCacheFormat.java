package understudy.fidelity.cells;

/**
 * Format of a cell's KV cache.
 *
 * @param dtype in the words of scenarios
 * @param because why it is assumed; empty if the row says it
 */
record KvCacheFormat(String dtype, String because) {
    boolean isAssumed() {
        return !because.isEmpty();
    }

    /** Returns it for people. */
    String text() {
        return isAssumed() ? dtype + ", assumed" : dtype;
    }
}
