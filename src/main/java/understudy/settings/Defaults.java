package understudy.settings;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigRenderOptions;

/** Every setting with its default, and how settings are written. */
public final class Defaults {
    /**
     * A name of our own: the {@code reference.conf} of another project says nothing about an emulation, nor ours about
     * it.
     */
    public static final String RESOURCE = "understudy-defaults.conf";

    /** Every setting with its default. */
    public static final Config CONFIG = ConfigFactory.parseResources(Defaults.class.getClassLoader(), RESOURCE);

    private Defaults() {}

    /** Returns a merged scenario as HOCON. */
    public static String render(Config scenario) {
        var options = ConfigRenderOptions.defaults().setOriginComments(false).setComments(false);
        return scenario.root().render(options.setJson(false));
    }
}
