package understudy.transfer;

/**
 * Lease on blocks that another replica is to read (vLLM {@code docs/design/nixl_kv_cache_lease.md}).
 *
 * @param durationNanos from the end of the prefill on, above 0 ({@code kv_lease_duration}, 30 s)
 * @param hasHeartbeats whether the other replica renews it, every sixth of its duration, by two thirds of its duration
 */
public record KvLease(long durationNanos, boolean hasHeartbeats) {
    /** As vLLM has it since there are leases. */
    public static final KvLease VLLM = new KvLease(30_000_000_000L, true);

    /** Checks the range. */
    public KvLease {
        if (durationNanos < 1) {
            throw new IllegalArgumentException("durationNanos " + durationNanos);
        }
    }

    /** Returns the time from one heartbeat to the next. */
    public long heartbeatNanos() {
        return Math.max(1, durationNanos / 6);
    }

    /** Returns how long a lease holds, at least, after a heartbeat. */
    public long renewedNanos() {
        return Math.max(1, durationNanos * 2 / 3);
    }
}
