package understudy.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class EmulationClassLoaderTest {
    /** Settings of ours that differ from Pekko's. */
    private static final Set<String> OURS = Set.of(
            "pekko.scheduler.implementation",
            "pekko.actor.internal-dispatcher",
            "pekko.actor.default-dispatcher.throughput",
            "pekko.actor.default-dispatcher.type",
            "pekko.loggers",
            "pekko.logging-filter",
            "pekko.library-extensions",
            "pekko.actor.typed.library-extensions",
            "pekko.loglevel",
            "pekko.stdout-loglevel",
            "pekko.log-dead-letters",
            "pekko.jvm-shutdown-hooks",
            "pekko.jvm-exit-on-fatal-error",
            "pekko.coordinated-shutdown.run-by-jvm-shutdown-hook",
            "pekko.coordinated-shutdown.run-by-actor-system-terminate",
            "pekko.coordinated-shutdown.terminate-actor-system");

    @Test
    void whatIsNotOurs_isPekkosDefault() {
        var settings = ConfigFactory.parseResources("understudy/runtime/emulation.conf");
        var pekko = ConfigFactory.defaultReference(VirtualTime.class.getClassLoader());

        var different = settings.entrySet().stream()
                .filter(entry -> !pekko.hasPath(entry.getKey())
                        || !entry.getValue()
                                .unwrapped()
                                .toString()
                                .equals(pekko.getAnyRef(entry.getKey()).toString()))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        assertThat(different).isEqualTo(OURS);
    }

    /** Pekko's test kit, which is on the class path of tests, has one {@code reference.conf}, Pekko itself several. */
    @Test
    void knownVersion_seesOurSettingsAndThoseOfTheTestKit() throws IOException {
        var seen = Collections.list(EmulationClassLoader.INSTANCE.getResources("reference.conf"));

        assertThat(seen).hasSize(2);
        assertThat(seen.get(0).getPath()).endsWith("understudy/runtime/emulation.conf");
        assertThat(seen.get(1).getPath()).contains("testkit").endsWith("reference.conf");
    }

    /** Typed actors of a later Pekko may read a key that ours does not have. */
    @Test
    void otherVersion_seesOurSettingsBeforeItsOwn() {
        var seen = ConfigFactory.defaultReference(new EmulationClassLoader("2.0.0"));

        assertThat(seen.getInt("pekko.actor.default-dispatcher.throughput")).isEqualTo(1);
        assertThat(seen.hasPath("pekko.reliable-delivery")).isTrue();
    }
}
