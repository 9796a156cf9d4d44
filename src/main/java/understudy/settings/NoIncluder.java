package understudy.settings;

import com.typesafe.config.ConfigObject;

/** Refuses all includes, for texts, which have no folder. */
final class NoIncluder extends RefusingIncluder {
    private final String origin;

    NoIncluder(String origin) {
        this.origin = origin;
    }

    @Override
    ConfigObject includeNamed(String name) {
        throw unusable(name, "only a file may include another one");
    }

    @Override
    ScenarioException unusable(String name, String why) {
        return new ScenarioException(origin + ": include \"" + name + "\": " + why);
    }
}
