package understudy.report.transfers;

import java.util.List;
import understudy.kvcache.PrefixCacheStats;
import understudy.kvcache.connector.TierState;
import understudy.kvcache.connector.TransferJob;
import understudy.transfer.TransferCounters;
import understudy.transfer.TransferEnded;
import understudy.transfer.TransferLog;

/** Recorder of the transfers of one replica, for its run's report and for who watches it. */
public final class TransferRecorder {
    private final int descriptorsPerBlock;
    private final boolean isOn;
    private final TransferCounters counters;

    /**
     * Creates a recorder that has seen nothing.
     *
     * @param descriptorsPerBlock pieces of memory that a KV block is in
     * @param keepsRecords whether all is kept for the end of the run
     * @param isWatched whether new transfers are taken while the run goes on
     */
    public TransferRecorder(int descriptorsPerBlock, boolean keepsRecords, boolean isWatched) {
        this.descriptorsPerBlock = descriptorsPerBlock;
        isOn = keepsRecords || isWatched;
        counters = new TransferCounters(keepsRecords);
    }

    /** Returns the counts, to add to what is not the end of a transfer. */
    public TransferCounters counters() {
        return counters;
    }

    /** Adds a transfer that has ended. */
    public void add(TransferJob job, TransferEnded ended) {
        if (isOn) {
            log(job).add(ended, numDescriptors(job));
        }
    }

    /** Adds a transfer of pages that has ended, which was not asked for by the replica that needs them. */
    public void addPush(TransferEnded ended, int numPages) {
        if (isOn) {
            counters.reads().add(ended, numPages * descriptorsPerBlock);
        }
    }

    private int numDescriptors(TransferJob job) {
        return job.kind() == TransferJob.Kind.READ
                ? job.gpuBlocks().size() * descriptorsPerBlock
                : job.otherBlocks().size();
    }

    private TransferLog log(TransferJob job) {
        return switch (job.kind()) {
            case LOAD -> counters.loads();
            case STORE -> counters.stores();
            case READ, NOTIFY, NOTIFY_UNSERVED -> counters.reads();
            case PROMOTE -> counters.promotions();
            case CASCADE -> counters.cascades();
        };
    }

    /** Returns the traffic since the last call. */
    public KvTraffic taken(PrefixCacheStats external, List<TierState> tiers) {
        return new KvTraffic(external, counters.take(), tiers);
    }

    /** Returns the traffic since the start. */
    public KvTraffic all(PrefixCacheStats external, List<TierState> tiers) {
        return new KvTraffic(external, counters.all(), tiers);
    }
}
