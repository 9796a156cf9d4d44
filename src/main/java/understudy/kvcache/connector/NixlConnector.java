package understudy.kvcache.connector;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Scheduler's side of vLLM's {@code NixlConnector} in pull mode: a replica that decodes reads the prompt's blocks from
 * the one that has computed them, and only those that it does not have.
 *
 * <p>It does so once: a request that is preempted afterwards computes its prompt again.
 */
public final class NixlConnector implements KvConnector {
    private final int blockSize;
    private final LongOpenHashSet allocated = new LongOpenHashSet();
    private final List<TransferJob> begun = new ArrayList<>();
    private long nextJob;

    /** Creates a connector of a memory of such blocks. */
    public NixlConnector(int blockSize) {
        this.blockSize = blockSize;
    }

    @Override
    public ExternalMatch match(ConnectedRequest request, int numLocalTokens) {
        var params = request.transferParams();
        if (params == null || !isToRead(request.requestId(), params)) {
            return ExternalMatch.NONE;
        }
        int numTokens = Math.min(params.numRemoteTokens(), request.numPromptTokens()) - numLocalTokens;
        return numTokens > 0 ? new ExternalMatch(numTokens, true, KvSource.PEER) : ExternalMatch.NONE;
    }

    @Override
    public void onAllocated(ConnectedRequest request, int numLocalTokens, int numExternalTokens) {
        var params = request.transferParams();
        if (params == null || !isToRead(request.requestId(), params)) {
            return;
        }
        allocated.add(request.requestId());
        if (numExternalTokens == 0) {
            begin(TransferJob.Kind.NOTIFY, request.requestId(), IntList.of(), params);
            return;
        }
        int numBlocks = (numLocalTokens + numExternalTokens + blockSize - 1) / blockSize;
        var blocks = new IntArrayList();
        for (int i = request.numCachedBlocks(); i < numBlocks; i++) {
            blocks.add(request.block(i));
        }
        begin(TransferJob.Kind.READ, request.requestId(), blocks, params);
    }

    private boolean isToRead(long requestId, KvTransferParams params) {
        return params.doRemotePrefill() && !allocated.contains(requestId);
    }

    private void begin(TransferJob.Kind kind, long requestId, IntList blocks, KvTransferParams params) {
        int numTokens = blocks.size() * blockSize;
        begun.add(new TransferJob(nextJob++, kind, requestId, numTokens, blocks, IntList.of(), params.remoteReplica()));
    }

    @Override
    public boolean onEnded(ConnectedRequest request, boolean isComplete) {
        onUnservedEnded(request.requestId(), request.transferParams());
        allocated.remove(request.requestId());
        var params = request.transferParams();
        return isComplete && params != null && params.doRemoteDecode();
    }

    /** The other replica need not keep its blocks for a request that will never read them. */
    @Override
    public void onUnservedEnded(long requestId, @Nullable KvTransferParams params) {
        if (params != null && isToRead(requestId, params)) {
            begin(TransferJob.Kind.NOTIFY_UNSERVED, requestId, IntList.of(), params);
        }
    }

    @Override
    public List<TransferJob> onPlanned(List<? extends ConnectedRequest> scheduled, int[] numComputedTokens) {
        var taken = List.copyOf(begun);
        begun.clear();
        return taken;
    }

    @Override
    public List<TransferJob> onJobEnded(long job, boolean isFailed) {
        return List.of(); // the blocks are the request's, whatever is in them
    }
}
