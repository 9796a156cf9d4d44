package understudy.engine.vllm;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.engine.StepPlan;

/**
 * Consequences of KV blocks that could not be loaded (vLLM {@code _handle_invalid_blocks}): each request that holds one
 * goes back to the tokens before its first invalid block.
 *
 * <p>A block that an earlier request holds, too, is computed again by that one alone.
 */
public final class LoadFailure {
    private final int blockSize;
    private final IntSet invalid;
    private final Function<VllmRequest, int[]> tables;
    private final IntSet seen = new IntOpenHashSet();

    /**
     * Request that holds an invalid block.
     *
     * @param isRunning whether it has been admitted
     * @param firstInvalidBlock place in its table from which on it computes again; -1 if an earlier request does that
     */
    public record Affected(VllmRequest request, boolean isRunning, int firstInvalidBlock) {}

    /** @param tables block ids of a request */
    LoadFailure(int blockSize, IntSet invalid, Function<VllmRequest, int[]> tables) {
        this.blockSize = blockSize;
        this.invalid = invalid;
        this.tables = tables;
    }

    /**
     * Takes requests back.
     *
     * @param executed the step whose result has come; its tokens are not computed yet
     * @return those that hold an invalid block
     */
    List<Affected> cut(Iterable<VllmRequest> requests, StepPlan executed) {
        var affected = new ArrayList<Affected>();
        for (var request : requests) {
            request.catchUp();
            int index = executed.indexOf(request);
            int numScheduled = index < 0 ? 0 : executed.numScheduledTokens(index);
            var cut = cut(request, request.numComputedTokens - numScheduled);
            if (cut != null) {
                affected.add(cut);
            }
        }
        return affected;
    }

    private @Nullable Affected cut(VllmRequest request, int numComputed) {
        int[] table = tables.apply(request);
        int end = Math.min(table.length, VllmRequest.roundUp(numComputed, blockSize) / blockSize);
        boolean isAffected = false;
        int first = -1;
        for (int i = 0; i < end; i++) {
            if (!invalid.contains(table[i])) {
                continue;
            }
            isAffected = true;
            if (seen.add(table[i]) && first < 0) {
                first = i;
            }
        }
        if (!isAffected) {
            return null;
        }
        keep(request, first < 0 ? numComputed : first * blockSize);
        return new Affected(request, request.status == VllmRequest.Status.RUNNING, first);
    }

    private static void keep(VllmRequest request, int numTokens) {
        request.numComputedTokens = numTokens;
        int numLost = request.numPreemptions > 0 ? 0 : Math.max(0, request.numCachedTokens - numTokens);
        request.numCachedTokens -= numLost;
        request.external = request.external.cutTo(Math.max(0, request.external.numTokens() - numLost));
    }
}
