package understudy.kvcache;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.connector.KvTransferParams;

/**
 * Part of an {@link AdmissionRequest} that is about KV from elsewhere.
 *
 * @param requestId of the request, unique in the emulation
 * @param transferParams KV transfer parameters that a router sent along, or null if none
 * @param numLoadedTokens leading tokens whose KV has come; 0 if the prompt is to be looked up
 * @param numReservedBlocks blocks that prefills in flight still need, which a load must leave free
 */
public record LoadState(
        long requestId, @Nullable KvTransferParams transferParams, int numLoadedTokens, int numReservedBlocks) {
    /** Of a replica that has no KV but its own. */
    public static final LoadState NONE = new LoadState(-1, null, 0, 0);
}
