package understudy.replay;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Report of a trace's replay.
 *
 * @param files names of the traces, which were one stream
 * @param chunks that stream
 * @param blockSize tokens per block
 * @param smallRatio share of S3-FIFO's small queue
 * @param maxFreq highest frequency that S3-FIFO counts
 * @param sharing how much content comes back, and after how long
 * @param results one per cache, at least one, by policy and then by capacity
 */
public record ReplayReport(
        List<String> files,
        List<TraceChunk> chunks,
        int blockSize,
        double smallRatio,
        int maxFreq,
        SharingView sharing,
        List<ReplayResult> results) {
    private static final long NONE = -1;

    /** Returns the requests of the trace. */
    public int numRequests() {
        return results.get(0).totalRequests();
    }

    /** Returns the prompt tokens of the trace. */
    public long numPromptTokens() {
        return results.get(0).totalPromptTokens();
    }

    /** Returns the policies, in the order of their results. */
    public List<ReplayPolicy> policies() {
        return results.stream().map(ReplayResult::policy).distinct().toList();
    }

    /** Returns the capacities in blocks, smaller before larger. */
    public List<Integer> capacities() {
        return results.stream()
                .filter(result -> result.policy().bounded())
                .map(ReplayResult::capacityBlocks)
                .distinct()
                .sorted()
                .toList();
    }

    /** Returns the result of a policy with a capacity; a policy without bounds has the same with each. */
    public Optional<ReplayResult> result(ReplayPolicy policy, int capacityBlocks) {
        return results.stream()
                .filter(result -> result.policy() == policy)
                .filter(result -> !policy.bounded() || result.capacityBlocks() == capacityBlocks)
                .findFirst();
    }

    /** Returns whether one can only compare with a policy, and not have it: it knows the future, or has no bounds. */
    public static boolean isIdeal(ReplayPolicy policy) {
        return policy.needsFuture() || !policy.bounded();
    }

    /**
     * Returns a number of prompt tokens that no policy exceeds at a capacity; nothing if {@code belady-bypass} was not
     * replayed with it. Hit tokens lie in blocks that are hit, of which no policy hits more; but their number need not
     * be what that one hits itself, since it goes for blocks, whole or not, behind a gap or not. A cache that keeps
     * everything is a bound, too.
     */
    public OptionalLong boundOfHitTokens(int capacityBlocks) {
        long mostBlocks = result(ReplayPolicy.BELADY_BYPASS, capacityBlocks)
                .map(ReplayResult::blockHits)
                .orElse(NONE);
        long everything = result(ReplayPolicy.INFINITE, capacityBlocks)
                .map(ReplayResult::totalHitTokens)
                .orElse(numPromptTokens());
        return mostBlocks == NONE
                ? OptionalLong.empty()
                : OptionalLong.of(Math.min(mostBlocks * blockSize, everything));
    }

    /** Returns {@link #boundOfHitTokens} as a share of all prompt tokens. */
    public OptionalDouble boundOfHitRate(int capacityBlocks) {
        var tokens = boundOfHitTokens(capacityBlocks);
        return tokens.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) tokens.getAsLong() / Math.max(1, numPromptTokens()));
    }

    /**
     * Returns whether no other policy that one can have hits more tokens at the same capacity; one alone is no best.
     */
    public boolean isBest(ReplayResult result) {
        var rivals = results.stream()
                .filter(other -> !isIdeal(other.policy()) && other.capacityBlocks() == result.capacityBlocks())
                .toList();
        return !isIdeal(result.policy())
                && rivals.size() > 1
                && rivals.stream().allMatch(other -> other.totalHitTokens() <= result.totalHitTokens());
    }
}
