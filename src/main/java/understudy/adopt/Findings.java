package understudy.adopt;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.settings.ScenarioException;

/** All that one source says, or several sources of one server together. */
public final class Findings {
    private final List<String> sources = new ArrayList<>();
    private final Map<Fact, Finding> facts = new EnumMap<>(Fact.class);
    private final Map<String, Finding> flags = new LinkedHashMap<>();
    private @Nullable EngineName engine;

    /**
     * Creates findings of a source that says nothing yet.
     *
     * @param source its name, as the user gave it
     */
    Findings(String source) {
        sources.add(source);
    }

    /** Returns the engine, or null as long as nothing tells it. */
    public @Nullable EngineName engine() {
        return engine;
    }

    void setEngine(EngineName name) {
        engine = name;
    }

    /** Returns the names of the sources. */
    public List<String> sources() {
        return List.copyOf(sources);
    }

    /** Takes the value; what a source says later goes over what it said before. */
    void put(Fact fact, String value, String where) {
        facts.put(fact, new Finding(value, where));
    }

    /** Takes the value unless there is a smaller one: every rank tells its own, and the smallest counts. */
    void putSmallest(Fact fact, String number, String where) {
        var finding = new Finding(number, where);
        facts.merge(fact, finding, (one, other) -> other.decimal() < one.decimal() ? other : one);
    }

    /** Takes the value unless there is one. */
    void putFirst(Fact fact, String value, String where) {
        facts.putIfAbsent(fact, new Finding(value, where));
    }

    Optional<Finding> fact(Fact fact) {
        return Optional.ofNullable(facts.get(fact));
    }

    /**
     * Takes a flag as the server's command line has it.
     *
     * @param name with dashes, without those in front
     * @param value a text, or JSON for lists and objects
     */
    void putFlag(String name, String value, String where) {
        flags.put(name, new Finding(value, where));
    }

    /** Takes a flag unless it is known already. */
    void putFlagIfAbsent(String name, Finding finding) {
        flags.putIfAbsent(name, finding);
    }

    /** Returns the tokens that the KV cache holds, or its blocks. */
    Optional<Finding> capacity() {
        return fact(Fact.KV_BLOCKS).or(this::tokens);
    }

    /** Returns the tokens that the KV cache holds. */
    Optional<Finding> tokens() {
        return fact(Fact.KV_TOKENS).or(() -> fact(Fact.POOL_TOKENS));
    }

    Optional<Finding> flag(String name) {
        return Optional.ofNullable(flags.get(name));
    }

    Map<String, Finding> flags() {
        return flags;
    }

    /** Forgets everything, since the server starts anew. */
    void clear() {
        facts.clear();
        flags.clear();
    }

    /** Returns the same as the findings of one source of this name. */
    public Findings named(String source) {
        var named = new Findings(source);
        named.engine = engine;
        named.facts.putAll(facts);
        named.flags.putAll(flags);
        return named;
    }

    /**
     * Returns these findings with those of another source, which has nothing to say against them.
     *
     * @throws ScenarioException if the two contradict each other
     */
    public Findings with(Findings other) {
        var merged = new Findings(sources.get(0));
        merged.sources.addAll(sources.subList(1, sources.size()));
        merged.sources.addAll(other.sources);
        if (engine != null && other.engine != null && engine != other.engine) {
            throw new ScenarioException(sources.get(0) + " is of " + engine.title() + ", and " + other.sources.get(0)
                    + " of " + other.engine.title() + ": sources must be of one server");
        }
        merged.engine = engine == null ? other.engine : engine;
        merged.facts.putAll(facts);
        merged.flags.putAll(flags);
        other.facts.forEach((fact, finding) -> {
            if (fact.isExact()) {
                requireEqual(fact.title(), merged.facts.get(fact), finding);
            }
            merged.facts.putIfAbsent(fact, finding);
        });
        other.flags.forEach((flag, finding) -> {
            requireEqual("--" + flag, merged.flags.get(flag), finding);
            merged.flags.putIfAbsent(flag, finding);
        });
        return merged;
    }

    private static void requireEqual(String title, @Nullable Finding one, Finding other) {
        if (one != null && !isEqual(one.value(), other.value())) {
            throw new ScenarioException(title + " is " + one.value() + " (" + one.where() + ") and " + other.value()
                    + " (" + other.where() + "): the sources contradict each other; give those of one start of one"
                    + " server");
        }
    }

    /** Numbers are equal however they are written. */
    private static boolean isEqual(String one, String other) {
        if (one.equalsIgnoreCase(other)) {
            return true;
        }
        try {
            return Double.parseDouble(one) == Double.parseDouble(other);
        } catch (NumberFormatException e) {
            return false;
        }
    }
}
