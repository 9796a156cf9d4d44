package understudy.chaos.gateway.reference;

import java.util.List;
import understudy.kvcache.KvEvent;

/**
 * KV events of one step of a replica, as vLLM publishes them.
 *
 * @param sequence number of the batch, one more than that of the batch before it; an engine that starts begins at 0
 * @param atSeconds time stamp of the engine, in seconds since 1970
 * @param events what has changed, in order
 */
record KvEventBatch(long sequence, double atSeconds, List<KvEvent> events) {
    KvEventBatch {
        events = List.copyOf(events);
    }
}
