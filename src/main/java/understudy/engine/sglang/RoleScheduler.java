package understudy.engine.sglang;

import it.unimi.dsi.fastutil.objects.ObjectArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** Base of both roles of disaggregation: buffers for metadata ({@code disaggregation/utils.py}). */
abstract class RoleScheduler extends SglangScheduler {
    /** Factor by which {@link #stateNumber} tells queues apart. */
    static final long PRIME = 1_000_003;

    final SglangConfig.Disaggregation role;
    private final ObjectArrayList<SglangRequest> ended = new ObjectArrayList<>();
    private int numFreeMetadata;

    RoleScheduler(SglangConfig config, SglangConfig.Disaggregation role) {
        super(config);
        this.role = role;
        numFreeMetadata = 2 * config.maxRunningRequests();
    }

    @Override
    public final int numFreeMetadata() {
        return numFreeMetadata;
    }

    /** Returns whether a request has a buffer now. */
    final boolean takeMetadata(SglangRequest request) {
        if (!request.hasMetadata && numFreeMetadata > 0) {
            numFreeMetadata--;
            request.hasMetadata = true;
        }
        return request.hasMetadata;
    }

    final void returnMetadata(SglangRequest request) {
        numFreeMetadata += request.hasMetadata ? 1 : 0;
        request.hasMetadata = false;
    }

    /** Ends a request outside of a batch. */
    final void leave(SglangRequest request, boolean isFailure) {
        request.isFinished = true;
        request.hasFailed |= isFailure;
        ended.add(request);
    }

    /** Returns the requests that have ended outside of a batch since the last call, in order. */
    final List<SglangRequest> takeEnded() {
        var taken = List.copyOf(ended);
        ended.clear();
        return taken;
    }

    /** Returns whether a request waits for the other engine. */
    final boolean awaitsPeer() {
        return queued().stream()
                .map(request -> request.requirePeer().poll())
                .anyMatch(state -> state == Peer.State.BOOTSTRAPPING || state == Peer.State.TRANSFERRING);
    }

    /** Returns the requests of all queues that only this role has, in a fixed order. */
    abstract List<SglangRequest> queued();

    @Override
    final List<SglangRequest> seated() {
        var seated = new LinkedHashSet<>(super.seated());
        seated.addAll(queued());
        seated.addAll(waiting);
        seated.removeIf(request -> request.slot == 0);
        return List.copyOf(seated);
    }

    final int numPages(int numTokens) {
        int pageSize = config.memory().pageSize();
        return (numTokens + pageSize - 1) / pageSize;
    }
}
