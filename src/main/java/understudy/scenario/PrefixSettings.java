package understudy.scenario;

import understudy.kvcache.GlobalPrefixLimits;
import understudy.kvcache.PrefixOptions;
import understudy.kvcache.PrefixOptions.FullHit;
import understudy.kvcache.PrefixOptions.SessionMode;

/**
 * Those settings of the sections {@code engine} and {@code kv-cache} that say how prefixes are kept and found again.
 */
final class PrefixSettings {
    private static final int MAX_TOKENS = 100_000_000;
    private static final int MAX_USES = 1_000_000;

    private PrefixSettings() {}

    static PrefixOptions read(Section engine, Section kvCache) {
        var sessions = kvCache.choice("sessions", SessionMode.class);
        var store = kvCache.section("global-prefix-store");
        boolean isStoreOn = store.bool("enabled");
        if (isStoreOn && sessions == SessionMode.OFF) {
            throw store.unusable(
                    "enabled", "but kv-cache.sessions is off: then all prefixes are found by content, in one store");
        }
        var limits = new GlobalPrefixLimits(
                store.wholeNumber("min-length", 1, MAX_TOKENS),
                store.wholeNumber("min-uses", 1, MAX_USES),
                store.wholeNumber("max-tokens", 1L, Long.MAX_VALUE));
        return new PrefixOptions(
                engine.choice("full-hit", FullHit.class),
                kvCache.bool("cache-generated-blocks"),
                sessions,
                isStoreOn ? limits : GlobalPrefixLimits.OFF);
    }
}
