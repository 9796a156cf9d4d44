package understudy.kvcache.content;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.connector.ConnectedRequest;
import understudy.kvcache.connector.KvTransferParams;
import understudy.prompt.BlockHasher;
import understudy.prompt.BlockRoom;

/** State of one request in a KV cache with a connector. */
final class ConnectedSequence extends KvSequence implements ConnectedRequest {
    private long requestId;
    private @Nullable KvTransferParams transferParams;
    private int numTokens;

    /** Whether blocks of it are being written from elsewhere. */
    private boolean isLoading;

    ConnectedSequence(PrefixLookup lookup, BlockHasher hasher, BlockRoom room) {
        super(lookup.prompt(), lookup.output(), hasher, room);
    }

    void note(AdmissionRequest question) {
        requestId = question.load().requestId();
        transferParams = question.load().transferParams();
        numTokens = question.numTokens();
    }

    void setNumTokens(int count) {
        numTokens = count;
    }

    boolean isLoading() {
        return isLoading;
    }

    void setLoading(boolean loads) {
        isLoading = loads;
    }

    @Override
    public long requestId() {
        return requestId;
    }

    @Override
    public @Nullable KvTransferParams transferParams() {
        return transferParams;
    }

    @Override
    public int numTokens() {
        return numTokens;
    }
}
