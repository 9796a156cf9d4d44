package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvConnector;
import understudy.kvcache.connector.TransferJob;

/** The connector of recordings whose requests say what is to be had of them from elsewhere. */
final class ScriptedConnector implements KvConnector {
    private final RecordedRun run;
    private final LongSet allocated = new LongOpenHashSet();
    private final int[] numDefers;
    private final List<Load> loads = new ArrayList<>();

    ScriptedConnector(RecordedRun run) {
        this.run = run;
        numDefers = new int[run.requests().size()];
    }

    /**
     * Tokens that come from elsewhere.
     *
     * @param blocks the ones that are written
     */
    record Load(long requestId, boolean isAsync, IntList blocks) {}

    private RecordedConnector.@Nullable Transfer transfer(long requestId) {
        return run.requests().get((int) requestId).transfer();
    }

    @Override
    public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
        var transfer = transfer(request.requestId());
        if (transfer == null) {
            return ExternalMatch.NONE;
        }
        return switch (transfer.role()) {
            case PREFILL -> ExternalMatch.NONE;
            case DECODE ->
                allocated.contains(request.requestId())
                        ? ExternalMatch.NONE
                        : behind(numLocalTokens, request.numPromptTokens(), true);
            case EXTERNAL -> external(transfer, (int) request.requestId(), numLocalTokens);
        };
    }

    private ExternalMatch external(RecordedConnector.Transfer transfer, int index, int numLocalTokens) {
        if (numDefers[index] < transfer.defers()) {
            numDefers[index]++;
            return ExternalMatch.LATER;
        }
        return behind(numLocalTokens, transfer.tokens(), transfer.isAsync());
    }

    private static ExternalMatch behind(int numLocalTokens, int numTokens, boolean isAsync) {
        return numTokens > numLocalTokens
                ? new ExternalMatch(numTokens - numLocalTokens, isAsync, null)
                : ExternalMatch.NONE;
    }

    @Override
    public void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens) {
        allocated.add(request.requestId());
        if (numExternalTokens > 0) {
            int blockSize = run.config().blockSize();
            int first = numLocalTokens / blockSize;
            int count = (numExternalTokens + blockSize - 1) / blockSize;
            var blocks = new IntArrayList();
            for (int i = first; i < first + count; i++) {
                blocks.add(request.block(i));
            }
            var transfer = transfer(request.requestId());
            boolean isAsync =
                    transfer != null && (transfer.role() == RecordedConnector.Role.DECODE || transfer.isAsync());
            loads.add(new Load(request.requestId(), isAsync, blocks));
        }
    }

    @Override
    public boolean onEnded(ConnectedRequest request, boolean isComplete) {
        var transfer = transfer(request.requestId());
        return isComplete && transfer != null && transfer.role() == RecordedConnector.Role.PREFILL;
    }

    @Override
    public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
        return List.of();
    }

    @Override
    public List<TransferJob> onJobEnded(long job, boolean isFailed) {
        throw new UnsupportedOperationException("a recording's transfers are no jobs");
    }

    /** Returns the loads since the last call. */
    List<Load> takeLoads() {
        var taken = List.copyOf(loads);
        loads.clear();
        return taken;
    }
}
