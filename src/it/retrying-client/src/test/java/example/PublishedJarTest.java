package example;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URL;
import org.apache.pekko.actor.typed.ActorSystem;
import org.junit.jupiter.api.Test;
import understudy.testkit.EmulatedCluster;

/** What a project gets that depends on Understudy. */
final class PublishedJarTest {
    @Test
    void classesOfOthers_areNotInside() {
        assertNotEquals(jarOf(ActorSystem.class), jarOf(EmulatedCluster.class));
    }

    @Test
    void loggingAndCommandLine_areNotForced() {
        assertThrows(ClassNotFoundException.class, () -> Class.forName("ch.qos.logback.classic.Logger"));
        assertThrows(ClassNotFoundException.class, () -> Class.forName("picocli.CommandLine"));
    }

    private static URL jarOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }
}
