package understudy.engine.sglang;

/** Base of both roles of disaggregation: buffers for metadata ({@code disaggregation/utils.py}). */
abstract class RoleScheduler extends SglangScheduler {
    final SglangConfig.Disaggregation role;
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

    final int numPages(int numTokens) {
        int pageSize = config.memory().pageSize();
        return (numTokens + pageSize - 1) / pageSize;
    }
}
