package understudy.sweep.remote;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;

/**
 * A run, as it is given to a worker.
 *
 * @param sweep that it belongs to
 * @param name of its point
 * @param settings the whole scenario, so that the worker needs no file of it; JSON
 * @param signature by the secret of the sweep
 */
record Work(String sweep, String name, String settings, String signature) implements RemoteMessage {
    private static final ConfigParseOptions JSON = ConfigParseOptions.defaults().setSyntax(ConfigSyntax.JSON);

    /** Returns the scenario. JSON knows no includes, so its sender has no file of this machine read by them. */
    Config config() {
        return ConfigFactory.parseString(settings, JSON);
    }
}
