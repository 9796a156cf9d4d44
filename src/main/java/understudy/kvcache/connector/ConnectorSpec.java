package understudy.kvcache.connector;

import java.util.Set;

/**
 * Kind of a connector, and its settings. A value: any number of connectors may be built with it.
 */
public interface ConnectorSpec {

    /** Creates a connector of an empty memory of such blocks. */
    KvConnector create(int blockSize, boolean enablePrefixCaching);

    /**
     * Returns whether what a preempted request has in flight is dropped, so that it may be resumed at once (vLLM {@code
     * requires_kv_delivery}): so for producers.
     */
    boolean requiresKvDelivery();

    /**
     * Returns whether blocks are freed only when the last step that was scheduled with them is over: so for consumers
     * with two steps in flight.
     */
    boolean defersFrees();

    /** Returns where the connector gets KV from. */
    Set<KvSource> sources();

    /** Returns whether the connector looks at every scheduled request. */
    boolean readsPlans();
}
