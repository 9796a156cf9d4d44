package understudy.engine.vllm;

import java.util.Arrays;

/** Numbers of a rule by the handle of a request, 0 at first. A rule clears that of a request that has ended. */
final class Column {
    private long[] values = new long[64];

    long get(VllmRequest request) {
        int handle = request.handle();
        return handle < values.length ? values[handle] : 0;
    }

    void set(VllmRequest request, long value) {
        int handle = request.handle();
        if (handle >= values.length) {
            values = Arrays.copyOf(values, Math.max(handle + 1, values.length * 2));
        }
        values[handle] = value;
    }
}
