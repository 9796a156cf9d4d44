package understudy.engine.family;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.regex.Pattern;
import understudy.engine.EngineFamily;
import understudy.engine.roseinfer.RoseinferFamily;
import understudy.engine.sglang.SglangFamily;
import understudy.engine.vllm.VllmFamily;

/** The families of engines by name. A new one is a room of its own, and a line here. */
public final class EngineFamilies {
    private static final List<EngineFamily> BUILT_IN =
            List.of(new VllmFamily(), new SglangFamily(), new RoseinferFamily());

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

    private EngineFamilies() {}

    /** Returns the names of the families that are part of Understudy, in the order of the manual. */
    public static List<String> builtInNames() {
        return BUILT_IN.stream().map(EngineFamily::name).toList();
    }

    /**
     * Returns all families by name: the built-in ones in the order of the manual, then those of others on the class path.
     *
     * @throws IllegalArgumentException if one of those has a name that it must not have
     * @throws java.util.ServiceConfigurationError if one of those cannot be made
     */
    public static Map<String, EngineFamily> byName() {
        return byName(ServiceLoader.load(EngineFamily.class, EngineFamilies.class.getClassLoader()));
    }

    static Map<String, EngineFamily> byName(Iterable<EngineFamily> others) {
        var all = new ArrayList<>(BUILT_IN);
        others.forEach(all::add);
        var byName = new LinkedHashMap<String, EngineFamily>();
        for (var family : all) {
            String where = family.getClass().getName() + " names its family of engines \"" + family.name() + "\", ";
            if (!NAME.matcher(family.name()).matches()) {
                throw new IllegalArgumentException(where + "which must be in lower case and with hyphens");
            }
            if (byName.putIfAbsent(family.name(), family) != null) {
                throw new IllegalArgumentException(where + "which is the name of another one");
            }
        }
        return byName;
    }
}
