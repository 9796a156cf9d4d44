package understudy.cluster;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.KvStoreSpec;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.RequestLimits;
import understudy.kvcache.KvCacheSpec;
import understudy.latency.ApiDelay;
import understudy.routing.ReplicaTraits;
import understudy.transfer.KvTransferSpec;

/**
 * Specification of one replica. A value: any number of replicas may be built with it.
 *
 * @param engine its engine, of whichever family
 * @param memory makes the actor of that memory
 * @param device makes the actor of its device
 * @param apiDelay from the arrival of a request to its entry into the waiting queue
 * @param keepsTokenTimes whether to keep when each token was sampled
 * @param planIntervalNanos how long an empty plan takes. If it is not 0 and two steps may be in flight, one plan is
 *     made in each interval, before the results of its instant are applied, as drivers do that take turns of planning
 *     and executing; with 0 a plan is made as soon as there is room for a step
 * @param traits traits that a router is configured with
 * @param transfers how its KV is moved, or null if it never is
 * @param stores memories slower than its host's, the fastest first
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record ReplicaSpec(
        EngineSpec engine,
        KvBlockManager.Factory memory,
        VirtualGpu.Factory device,
        ApiDelay apiDelay,
        boolean keepsTokenTimes,
        long planIntervalNanos,
        ReplicaTraits traits,
        @Nullable KvTransferSpec transfers,
        List<KvStoreSpec> stores)
        implements ReplicaSpecBuilder.With {

    /** Returns a replica without a delay of its API, which keeps no times of tokens. */
    public static ReplicaSpec of(EngineSpec engine, KvBlockManager.Factory memory, VirtualGpu.Factory device) {
        return new ReplicaSpec(engine, memory, device, ApiDelay.NONE, false, 0, ReplicaTraits.PLAIN, null, List.of());
    }

    /** Returns the limits beyond which its front end turns requests away. */
    public RequestLimits limits() {
        return engine.limits();
    }

    /** Returns sizes and kind of its KV memory. */
    public KvCacheSpec kvCache() {
        return engine.kvCache();
    }

    /** Returns limits and features of its engine. */
    public EngineTraits engineTraits() {
        return engine.traits();
    }

    /** Returns whether a request fails whose KV could not be loaded. */
    public boolean failsOnLoadFailure() {
        return transfers != null && transfers.failsOnLoadFailure();
    }
}
