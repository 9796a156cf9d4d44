package understudy.routing.admission;

import it.unimi.dsi.fastutil.objects.Object2ObjectLinkedOpenHashMap;
import org.jspecify.annotations.Nullable;
import understudy.engine.Request;

/** Buckets of a {@link RateLimit}: one, or one for each tenant; a tenant unseen for longest is forgotten first. */
final class TokenBuckets {
    private static final int MAX_TENANTS = 100_000;

    private final RateLimit limit;
    private final Object2ObjectLinkedOpenHashMap<String, Bucket> byTenant = new Object2ObjectLinkedOpenHashMap<>();

    /** Level at a time. */
    private record Bucket(double level, long atNanos) {}

    TokenBuckets(RateLimit limit) {
        this.limit = limit;
    }

    /** Pays for a request, and returns whether there was enough; if not, nothing is taken. */
    boolean pay(Request request, long nowNanos) {
        if (!limit.isSet()) {
            return true;
        }
        String tenant = limit.perTenant() ? request.tenant() : "";
        double level = level(byTenant.getAndMoveToLast(tenant), nowNanos);
        double cost =
                limit.unit() == RateLimit.Unit.REQUESTS ? 1 : request.prompt().length();
        boolean isEnough = level >= cost;
        byTenant.putAndMoveToLast(tenant, new Bucket(isEnough ? level - cost : level, nowNanos));
        if (byTenant.size() > MAX_TENANTS) {
            byTenant.removeFirst();
        }
        return isEnough;
    }

    private double level(@Nullable Bucket bucket, long nowNanos) {
        return bucket == null
                ? limit.burst()
                : Math.min(limit.burst(), bucket.level + (nowNanos - bucket.atNanos) / 1e9 * limit.perSecond());
    }
}
