package understudy.settings;

import com.typesafe.config.ConfigIncludeContext;
import com.typesafe.config.ConfigIncluder;
import com.typesafe.config.ConfigIncluderClasspath;
import com.typesafe.config.ConfigIncluderFile;
import com.typesafe.config.ConfigIncluderURL;
import com.typesafe.config.ConfigObject;
import java.io.File;
import java.net.URL;

/** Includes of every kind, in one method; those of addresses and of the class path are refused in any case. */
abstract class RefusingIncluder
        implements ConfigIncluder, ConfigIncluderFile, ConfigIncluderURL, ConfigIncluderClasspath {
    static final String ONLY_FILES = "a scenario includes files only, by a path from its own folder";

    /** Returns the content of a file of this name. */
    abstract ConfigObject includeNamed(String name);

    /** Returns the exception for an include that cannot be used, and why. */
    abstract ScenarioException unusable(String name, String why);

    @Override
    public final ConfigObject include(ConfigIncludeContext context, String what) {
        return what.contains("://") ? refuse(what) : includeNamed(what);
    }

    @Override
    public final ConfigObject includeFile(ConfigIncludeContext context, File what) {
        return includeNamed(what.getPath());
    }

    @Override
    public final ConfigObject includeURL(ConfigIncludeContext context, URL what) {
        return refuse(what.toString());
    }

    @Override
    public final ConfigObject includeResources(ConfigIncludeContext context, String what) {
        return refuse(what);
    }

    /** Stands alone: what it refuses, no other one may take. */
    @Override
    public final ConfigIncluder withFallback(ConfigIncluder fallback) {
        return this;
    }

    private ConfigObject refuse(String name) {
        throw unusable(name, ONLY_FILES);
    }
}
