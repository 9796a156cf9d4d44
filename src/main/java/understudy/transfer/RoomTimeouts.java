package understudy.transfer;

/**
 * How long two processes wait for each other that have the same request, of which one computes the prompt.
 *
 * @param bootstrapNanos how long that one waits for places (SGLang {@code SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT})
 * @param waitingNanos how long the one that has places waits for KV ({@code SGLANG_DISAGGREGATION_WAITING_TIMEOUT})
 */
public record RoomTimeouts(long bootstrapNanos, long waitingNanos) {}
