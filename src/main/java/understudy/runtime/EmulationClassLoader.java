package understudy.runtime;

import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.pekko.Version;

/**
 * Class loader of an emulation's actor system, which finds one resource of our own where Pekko asks for every
 * {@code reference.conf} there is. Those of Pekko HTTP and of other projects say nothing about an emulation, and to
 * parse and merge them all takes longer than the rest of the system's start.
 */
final class EmulationClassLoader extends ClassLoader {
    /** Its parent is not the context class loader of whatever thread this is: some do not see Pekko. */
    static final EmulationClassLoader INSTANCE = new EmulationClassLoader(Version.current());

    private static final String REFERENCE = "reference.conf";
    private static final String SETTINGS = "understudy/runtime/emulation.conf";

    private static final String PROBE = "org/apache/pekko/actor/testkit/typed/javadsl/TestProbe.class";

    /** The version whose defaults are in our settings. */
    private static final String KNOWN_VERSION = "1.7.0";

    private final boolean isKnownVersion;

    /** Takes the version of Pekko on the class path: another one may want settings that ours do not have. */
    EmulationClassLoader(String pekkoVersion) {
        super(EmulationClassLoader.class.getClassLoader());
        isKnownVersion = pekkoVersion.equals(KNOWN_VERSION);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        if (!name.equals(REFERENCE)) {
            return super.getResources(name);
        }
        var theirs = isKnownVersion ? ofTestKit() : Collections.list(super.getResources(REFERENCE));
        return Collections.enumeration(
                Stream.concat(Stream.of(getResource(SETTINGS)), theirs.stream()).toList());
    }

    /** Probes of Pekko's test kit work in virtual time too, with the settings that lie beside them. */
    private List<URL> ofTestKit() throws IOException {
        var probe = getResource(PROBE);
        return probe == null ? List.of() : List.of(new URL(probe, "/" + REFERENCE));
    }
}
