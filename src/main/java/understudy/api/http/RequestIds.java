package understudy.api.http;

import it.unimi.dsi.fastutil.HashCommon;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.http.javadsl.model.AttributeKey;
import org.apache.pekko.http.javadsl.model.HttpRequest;

/**
 * Ids of calls: their header {@code X-Request-Id}, or else 32 hexadecimal digits. A {@code request_id} in the body of a
 * call goes into the {@code id} of its answer unchecked, as with vLLM.
 */
public final class RequestIds {
    public static final String HEADER = "X-Request-Id";
    private static final AttributeKey<String> KEY = AttributeKey.create("understudy-request-id", String.class);
    private static final int MAX_LENGTH = 256;

    private final long seed;
    private final AtomicLong next = new AtomicLong();

    public RequestIds(long seed) {
        this.seed = seed;
    }

    /** Returns a request that carries its name. */
    public HttpRequest name(HttpRequest request) {
        String given = request.getHeader(HEADER).map(header -> header.value()).orElse("");
        boolean isUsable = !given.isEmpty() && given.length() <= MAX_LENGTH;
        return request.addAttribute(KEY, isUsable ? given : generated());
    }

    /** Returns the name that a request carries. */
    public static String of(HttpRequest request) {
        return request.getAttribute(KEY).orElse("");
    }

    private String generated() {
        long number = next.incrementAndGet();
        long first = HashCommon.murmurHash3(seed ^ HashCommon.murmurHash3(number));
        // Of the first half, which no other number has: halves of two names are never alike.
        return String.format("%016x%016x", first, HashCommon.murmurHash3(~first));
    }
}
