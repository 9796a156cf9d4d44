package understudy.engine.version;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import understudy.settings.Section;

/**
 * One version of an engine: what all changes up to it add up to, and what others it does not have. Immutable.
 *
 * @param engine its name, as {@code engine.kind} has it
 * @param version its name, as {@code engine.version} has it
 * @param what it is: a release or a commit, with its date
 * @param defaults values of settings that the user does not give, by key
 * @param otherFlags why it has not a flag that another version has, by the flag's name
 * @param otherMetrics families that only other versions have
 * @param changes all up to it, the earliest first
 * @param notKnown what is not known of it, a sentence each
 */
public record EngineProfile(
        String engine,
        String version,
        String what,
        Map<String, String> defaults,
        Map<String, String> otherFlags,
        Set<String> otherMetrics,
        List<VersionChange> changes,
        List<String> notKnown) {
    private static final Section NOTHING = Section.of(Map.of());

    public EngineProfile {
        defaults = Map.copyOf(defaults);
        otherFlags = Map.copyOf(otherFlags);
        otherMetrics = Set.copyOf(otherMetrics);
        changes = List.copyOf(changes);
        notKnown = List.copyOf(notKnown);
    }

    /** Returns its defaults as a layer of a scenario. */
    public Section settings() {
        var settings = NOTHING;
        for (var value : defaults.entrySet()) {
            settings = settings.with(value.getKey(), value.getValue(), "engine.version " + version);
        }
        return settings;
    }

    /** Returns why the first of some flags that it does not have is refused, or empty if it has all. */
    public Optional<String> refusal(Collection<String> flags) {
        return flags.stream()
                .filter(otherFlags::containsKey)
                .findFirst()
                .map(flag -> "--" + flag + " " + otherFlags.get(flag) + "; engine.version is " + version);
    }

    /** Returns the changes of which nobody here has read the source. */
    public List<VersionChange> secondHand() {
        return changes.stream().filter(VersionChange::isSecondHand).toList();
    }

    /** Returns a line about what is uncertain, or empty if nothing is. */
    public Optional<String> reservation() {
        int numSecondHand = secondHand().size();
        return numSecondHand == 0 && notKnown.isEmpty()
                ? Optional.empty()
                : Optional.of("engine.version = " + version + ": " + numSecondHand
                        + " of its changes are second hand, and "
                        + notKnown.size() + " things about it are not known; 'understudy versions --show " + version
                        + "' lists them");
    }

    /** Returns what it is, and what about it is uncertain, a line each. */
    public List<String> description() {
        var lines = new ArrayList<String>();
        lines.add("engine.version = " + version + ": " + what);
        secondHand().forEach(change -> lines.add("second hand: " + change.effect() + " (" + change.source() + ")"));
        notKnown.forEach(each -> lines.add("not known: " + each));
        return lines;
    }
}
