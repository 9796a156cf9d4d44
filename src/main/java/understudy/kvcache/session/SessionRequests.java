package understudy.kvcache.session;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.PrefixLookup;

/** Unfinished requests of a session cache, by handle. */
final class SessionRequests {
    private @Nullable SessionRequest[] byHandle = new @Nullable SessionRequest[64];

    /** Returns the request that a lookup is about; at its first lookup it holds nothing. */
    SessionRequest of(PrefixLookup lookup) {
        int handle = lookup.handle();
        if (handle >= byHandle.length) {
            byHandle = Arrays.copyOf(byHandle, Math.max(handle + 1, byHandle.length * 2));
        }
        var request = byHandle[handle];
        if (request == null) {
            request = new SessionRequest(lookup);
            byHandle[handle] = request;
        }
        return request;
    }

    @Nullable SessionRequest find(int handle) {
        return handle < byHandle.length ? byHandle[handle] : null;
    }

    SessionRequest known(int handle) {
        var request = find(handle);
        if (request == null) {
            throw new IllegalArgumentException("no request with handle " + handle);
        }
        return request;
    }

    void remove(int handle) {
        if (handle < byHandle.length) {
            byHandle[handle] = null;
        }
    }

    /** Returns the blocks of all requests that hold some. */
    List<BlockHolding> holdings() {
        var holdings = new ArrayList<BlockHolding>();
        for (var request : byHandle) {
            if (request != null && request.blocks != null) {
                holdings.add(request.blocks);
            }
        }
        return holdings;
    }
}
