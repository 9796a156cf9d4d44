package understudy.api.http;

import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.apache.pekko.http.javadsl.model.AttributeKey;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import understudy.faults.RequestFault;
import understudy.runtime.Stopwatch;
import understudy.runtime.VirtualTime;

/**
 * Arrival of a call.
 *
 * @param since runs since its request was read
 * @param fault fault to inject into it in the cluster
 * @param malformedAtToken the output token whose event in a stream is to be broken JSON, counted from 1; 0 is none
 * @param tenant whose fair share it takes, as a gateway says; empty if none does
 * @param rank the replica that is to serve it, as a router outside says; empty if none does, or if it is no number
 */
public record Arrival(Stopwatch since, RequestFault fault, int malformedAtToken, String tenant, OptionalLong rank) {
    /** The header that names a tenant, as gateways with the inference extension send it. */
    public static final String TENANT = "x-gateway-inference-fairness-id";

    /** The header that names a replica (vLLM's {@code data_parallel_rank}). */
    public static final String RANK = "X-data-parallel-rank";

    private static final AttributeKey<Stopwatch> KEY = AttributeKey.create("understudy-arrival", Stopwatch.class);

    /** Returns a request that carries when it came. */
    public static HttpRequest mark(HttpRequest request, Stopwatch since) {
        return request.addAttribute(KEY, since);
    }

    /** Reads the headers of a request at a virtual time; refuses faults that make no sense. */
    public static Arrival of(HttpRequest request, long nowNanos) {
        Optional<Stopwatch> since = request.getAttribute(KEY);
        try {
            var names = new HashSet<String>();
            request.getHeaders().forEach(header -> requireOnce(header.name(), names));
            Function<String, Optional<String>> header =
                    name -> request.getHeader(name).map(HttpHeader::value);
            var fault = FaultHeaders.read(header);
            if (fault.delayNanos() > 0) {
                VirtualTime.requireBeforeEnd(nowNanos, Duration.ofNanos(fault.delayNanos()));
            }
            return new Arrival(
                    since.orElseGet(Stopwatch::start),
                    fault,
                    FaultHeaders.malformedAtToken(header),
                    header.apply(TENANT).orElse(""),
                    header.apply(RANK).map(Arrival::rank).orElse(OptionalLong.empty()));
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest(String.valueOf(e.getMessage()), null);
        }
    }

    /** vLLM ignores values that are no numbers. */
    private static OptionalLong rank(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text.strip()));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private static void requireOnce(String name, Set<String> given) {
        FaultHeaders.requireKnown(name);
        if (FaultHeaders.isOne(name) && !given.add(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(name + " is given more than once");
        }
    }

    /** Returns how long ago that was in virtual time; no time at all on a clock that is not paced. */
    public long virtualAgeNanos(double speed) {
        return Double.isInfinite(speed) ? 0 : (long) (since.seconds() * speed * 1e9);
    }
}
