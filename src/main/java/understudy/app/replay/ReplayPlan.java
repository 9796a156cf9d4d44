package understudy.app.replay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import understudy.replay.ReplayPolicy;
import understudy.replay.ReplaySettings;
import understudy.settings.ScenarioException;

/**
 * Caches that a trace is to be replayed against: every policy with every capacity, once.
 *
 * @param policies without repetition
 * @param sizes capacities, of which several may come to the same number of blocks
 * @param isSpelledOut whether the user has named both, so that a pair that is not defined is a mistake
 */
public record ReplayPlan(
        List<ReplayPolicy> policies, List<CacheSize> sizes, boolean isSpelledOut, double smallRatio, int maxFreq) {
    /** From caches that hold next to nothing to such that leave little to gain. */
    private static final List<String> DEFAULT_SIZES = List.of("1%", "2%", "5%", "10%", "20%", "50%");

    /** A cache: a policy and a capacity, which is {@link ReplaySettings#UNBOUNDED} where the policy has none. */
    public record Cache(ReplayPolicy policy, int capacityBlocks) {}

    /** Receiver of the reason why a pair is left out. */
    public interface Warnings {
        void warn(String line);
    }

    /**
     * Reads the command line.
     *
     * @param policyNames names, or null for all policies
     * @param sizeTexts capacities, or null for the default ones
     * @throws ScenarioException if something cannot be used
     */
    public static ReplayPlan of(
            @Nullable List<String> policyNames, @Nullable List<String> sizeTexts, double smallRatio, int maxFreq) {
        if (!(smallRatio > 0 && smallRatio < 1)) {
            throw new ScenarioException("--small-ratio is " + smallRatio + ", must be a number between 0 and 1");
        }
        if (maxFreq < 0) {
            throw new ScenarioException("--max-freq is " + maxFreq + ", must be at least 0");
        }
        if (policyNames != null && policyNames.isEmpty()) {
            throw new ScenarioException("--policy names no policy");
        }
        if (sizeTexts != null && sizeTexts.isEmpty()) {
            throw new ScenarioException("--capacity names no capacity");
        }
        var policies = policyNames == null
                ? Arrays.asList(ReplayPolicy.values())
                : policyNames.stream().map(ReplayPlan::policy).distinct().toList();
        var sizes = (sizeTexts == null ? DEFAULT_SIZES : sizeTexts)
                .stream().map(CacheSize::of).toList();
        return new ReplayPlan(policies, sizes, policyNames != null && sizeTexts != null, smallRatio, maxFreq);
    }

    private static ReplayPolicy policy(String name) {
        try {
            return ReplayPolicy.of(name.strip());
        } catch (IllegalArgumentException e) {
            throw new ScenarioException("--policy: " + e.getMessage());
        }
    }

    /** Returns the most caches that there may be. */
    public int maxCaches() {
        int numBounded = (int) policies.stream().filter(ReplayPolicy::bounded).count();
        return numBounded * sizes.size() + policies.size() - numBounded;
    }

    /**
     * Returns the caches that can be filled while the trace is being read, knowing neither its end nor its size.
     *
     * @throws ScenarioException if one is not defined
     */
    public List<Cache> early() {
        var numbers = sizes.stream().filter(size -> !size.isShare()).toList();
        return caches(numbers, 0, line -> {}).stream()
                .filter(cache -> !cache.policy.needsFuture())
                .toList();
    }

    /**
     * Returns all caches, by policy, smaller before larger.
     *
     * @param numBlocks different blocks of the trace
     * @throws ScenarioException if one is not defined, and is spelled out
     */
    public List<Cache> all(int numBlocks, Warnings warnings) {
        var caches = caches(sizes, numBlocks, warnings);
        if (caches.isEmpty()) {
            throw new ScenarioException(
                    "nothing is left to be replayed; choose other values of --policy and --capacity");
        }
        return caches;
    }

    private List<Cache> caches(List<CacheSize> wanted, int numBlocks, Warnings warnings) {
        Map<Integer, CacheSize> byBlocks = new TreeMap<>(Comparator.naturalOrder());
        wanted.forEach(size -> byBlocks.putIfAbsent(size.blocksOf(numBlocks), size));
        var caches = new ArrayList<Cache>();
        for (var policy : policies) {
            if (policy.bounded()) {
                byBlocks.forEach((blocks, size) -> {
                    if (isDefined(policy, blocks, size, warnings)) {
                        caches.add(new Cache(policy, blocks));
                    }
                });
            } else {
                caches.add(new Cache(policy, ReplaySettings.UNBOUNDED));
            }
        }
        return caches;
    }

    private boolean isDefined(ReplayPolicy policy, int blocks, CacheSize size, Warnings warnings) {
        try {
            policy.checkCapacity(blocks, smallRatio);
            return true;
        } catch (IllegalArgumentException e) {
            String problem = "--capacity " + size.text() + ": " + e.getMessage();
            if (isSpelledOut) {
                throw new ScenarioException(problem);
            }
            warnings.warn("warning: " + problem + "; left out");
            return false;
        }
    }
}
