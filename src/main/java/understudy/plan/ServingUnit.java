package understudy.plan;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.settings.ScenarioException;

/**
 * Smallest part of a deployment that can be multiplied: a replica, a group of data-parallel ranks, or some replicas
 * that compute prompts with some that answer.
 *
 * @param index place in the order of the candidates
 * @param settings of the scenario that set it apart
 * @param split replicas by role, or null
 * @param numRanks replicas without a split
 * @param gpus what it is made of
 */
public record ServingUnit(
        int index,
        String name,
        Map<String, String> settings,
        @Nullable Split split,
        int numRanks,
        List<Gpus> gpus) {

    /** GPUs of one kind, each at a price for an hour. */
    public record Gpus(String name, int count, double hourPrice) {}

    /** Replicas that compute prompts, and replicas that answer. */
    public record Split(int numPrefill, int numDecode) {
        private static final Pattern WRITTEN = Pattern.compile("([1-9][0-9]{0,3})p([1-9][0-9]{0,3})d");

        /** Reads a split such as {@code 2p1d}; null for {@code none}. */
        static @Nullable Split parse(String text) {
            if (text.equals("none")) {
                return null;
            }
            var matcher = WRITTEN.matcher(text);
            if (!matcher.matches()) {
                throw new ScenarioException(
                        "plan.candidates.splits has \"" + text + "\"; must be none, or such as 2p1d");
            }
            return new Split(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
        }

        private String groups(int count) {
            return String.format(
                    "[{ name = prefill, replicas = %d, role = prefill },"
                            + " { name = decode, replicas = %d, role = decode }]",
                    count * numPrefill, count * numDecode);
        }
    }

    /** Returns the settings of a scenario with so many. */
    public Map<String, String> settings(int count) {
        var all = new LinkedHashMap<>(settings);
        if (split == null) {
            all.put("cluster.replicas", String.valueOf(count * numRanks));
        } else {
            all.put("cluster.groups", split.groups(count));
        }
        return all;
    }

    int numGpus() {
        return gpus.stream().mapToInt(Gpus::count).sum();
    }
}
