package understudy.testkit;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each JUnit 5 test a fresh {@link EmulatedCluster}, as a parameter or by {@link #cluster()}, and ends it after
 * the test.
 *
 * <pre>{@code
 * @RegisterExtension
 * final EmulatedClusterExtension emulation = EmulatedClusterExtension.paused("cluster.replicas = 2");
 *
 * @Test
 * void answers(EmulatedCluster cluster) {
 *     var request = cluster.submit(100, 5);
 *     cluster.advance(Duration.ofSeconds(1));
 *     assertEquals(5, request.finished().numOutputTokens());
 * }
 * }</pre>
 *
 * <p>JUnit is an optional dependency: users of this class have it.
 */
public final class EmulatedClusterExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private final Supplier<EmulatedCluster> start;
    private @Nullable EmulatedCluster cluster;

    private EmulatedClusterExtension(Supplier<EmulatedCluster> start) {
        this.start = start;
    }

    /** Clusters whose clock stands still until the test moves it. Settings are HOCON. */
    public static EmulatedClusterExtension paused(String settings) {
        return new EmulatedClusterExtension(() -> EmulatedCluster.startPaused(settings));
    }

    /** Clusters whose clock runs by itself, as {@code clock.speed} says. Settings are HOCON. */
    public static EmulatedClusterExtension running(String settings) {
        return new EmulatedClusterExtension(() -> EmulatedCluster.start(settings));
    }

    /** Clusters behind an HTTP server, whose clock stands still until the test moves it. Settings are HOCON. */
    public static EmulatedClusterExtension servingPaused(String settings) {
        return new EmulatedClusterExtension(() -> EmulatedCluster.servePaused(settings));
    }

    /** Clusters behind an HTTP server, whose clock runs by itself, as {@code clock.speed} says. Settings are HOCON. */
    public static EmulatedClusterExtension serving(String settings) {
        return new EmulatedClusterExtension(() -> EmulatedCluster.serve(settings));
    }

    /** Returns the cluster of the test that runs. */
    public EmulatedCluster cluster() {
        if (cluster == null) {
            throw new IllegalStateException("there is a cluster only while a test runs");
        }
        return cluster;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        cluster = start.get();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        var started = cluster;
        cluster = null;
        if (started != null) {
            started.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == EmulatedCluster.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return cluster();
    }
}
