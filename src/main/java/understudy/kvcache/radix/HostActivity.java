package understudy.kvcache.radix;

import io.soabase.recordbuilder.core.RecordBuilder;
import it.unimi.dsi.fastutil.ints.IntList;

/**
 * Activity between device and host since the last look, and what stands now. Sizes are in tokens.
 *
 * @param numFree free tokens of the host's pool
 * @param numUsed the other tokens of it
 * @param numPendingWrites nodes whose copy to the host is not acknowledged
 * @param numPendingLoads nodes whose copy from the host is not acknowledged
 * @param backups size of each copy to the host that was issued, in order
 * @param numRefusedBackups copies that were wanted and not made
 * @param evictions tokens asked for and tokens freed, of each eviction on the host; in twos
 * @param loads handle and tokens of each load, in twos
 * @param refusedLoads handle and tokens of each load that was not made, in twos
 * @param numAcknowledgedWrites copies to the host that were acknowledged
 * @param numAcknowledgedLoads copies from the host that were acknowledged
 * @param numStored pages that have become findable on the host
 * @param numRemoved pages that have ceased to be findable on the host
 */
@RecordBuilder
public record HostActivity(
        int numFree,
        int numUsed,
        int numPendingWrites,
        int numPendingLoads,
        IntList backups,
        int numRefusedBackups,
        IntList evictions,
        IntList loads,
        IntList refusedLoads,
        int numAcknowledgedWrites,
        int numAcknowledgedLoads,
        int numStored,
        int numRemoved) {}
