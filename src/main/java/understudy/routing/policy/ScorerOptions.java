package understudy.routing.policy;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import understudy.routing.PolicySettings;
import understudy.routing.Signal;

/**
 * Settings of {@link WeightedScorers}.
 *
 * @param scorers those that are asked
 * @param hostWeight what a block in a host's memory counts for {@code precise-prefix-cache}, in relation to one on the GPU, 0
 *     to 1 (llm-d: {@code kvCacheBackendConfigs})
 * @param isDrawn whether chance chooses in proportion to the scores, and not the highest one
 * @param affinityThreshold share of a prompt's blocks from which on replicas that have them are the only candidates; 0
 *     if all always are
 * @param exploration share of the requests for which all are nevertheless
 */
record ScorerOptions(
        List<Weighted> scorers, double hostWeight, boolean isDrawn, double affinityThreshold, double exploration) {

    /**
     * A scorer and how much it counts.
     *
     * @param weight above 0
     */
    record Weighted(Scorers.Kind scorer, double weight) {}

    static ScorerOptions read(PolicySettings settings) {
        var scorers = Scorers.ALL.stream()
                .map(kind -> new Weighted(kind, settings.number(kind.name(), 0, 1e9)))
                .filter(weighted -> weighted.weight > 0)
                .toList();
        return new ScorerOptions(
                scorers,
                settings.number("host-weight", 0, 1),
                settings.choice("picker", List.of("max-score", "weighted-random"))
                        .equals("weighted-random"),
                settings.number("affinity-threshold", 0, 1),
                settings.number("exploration", 0, 1));
    }

    Set<Signal> signals() {
        return scorers.stream()
                .flatMap(weighted -> weighted.scorer.signals().stream())
                .collect(Collectors.toUnmodifiableSet());
    }

    boolean usesPrecisePrefixes() {
        return uses(Scorers.PRECISE_PREFIX_CACHE);
    }

    /** Returns whether anything looks at what is assumed to be cached. */
    boolean usesAssumedPrefixes() {
        return uses(Scorers.PREFIX_CACHE)
                || (!usesPrecisePrefixes() && (affinityThreshold > 0 || uses(Scorers.NO_HIT_LRU)));
    }

    private boolean uses(String scorer) {
        return scorers.stream().anyMatch(weighted -> weighted.scorer.name().equals(scorer));
    }
}
