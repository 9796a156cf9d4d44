package understudy.app;

import com.typesafe.config.Config;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.scenario.ScenarioFile;

/** The options of every command that reads a scenario. */
final class ScenarioOptions {
    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting, over environment (UNDERSTUDY_KEY) and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    /**
     * Returns the merged scenario; what other flags of a command are short for goes over {@code --set}.
     *
     * @param file or null for the defaults alone
     */
    Config load(@Nullable String file, Map<String, String> flags) {
        settings.putAll(flags);
        return new ScenarioFile(System.getenv()).load(file, settings);
    }
}
