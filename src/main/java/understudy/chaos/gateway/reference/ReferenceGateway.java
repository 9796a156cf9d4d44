package understudy.chaos.gateway.reference;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import understudy.chaos.gateway.GatewayUnderTest;

/**
 * The routing policies of the house as a gateway, inside the kit.
 *
 * @param wrong what it gets wrong
 */
public record ReferenceGateway(WrongDecision wrong) implements GatewayUnderTest {
    private static final int START_SECONDS = 10;
    private static final Duration STOP = Duration.ofSeconds(5);

    @Override
    public String name() {
        return wrong == WrongDecision.NONE ? "reference" : wrong.text();
    }

    @Override
    public Running start(Setup setup) throws IOException {
        var loader = ReferenceGateway.class.getClassLoader();
        var config = ConfigFactory.parseResources(loader, "understudy/chaos/gateway/reference/gateway.conf")
                .withFallback(ConfigFactory.load(loader));
        var system = ActorSystem.create(Behaviors.<Done>empty(), "reference-gateway", config);
        try {
            var ca = setup.ca();
            var tls = ca == null ? null : ReplicaTrust.context(ca, wrong);
            var proxy = new Proxy(system, setup.backends(), tls, wrong);
            proxy.bind(setup.port()).toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
            return new Server(system, URI.create("http://127.0.0.1:" + setup.port()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            system.terminate();
            throw new IOException("interrupted while the gateway was starting", e);
        } catch (IOException e) {
            system.terminate();
            throw e;
        } catch (ExecutionException | TimeoutException e) {
            system.terminate();
            throw new IOException("port " + setup.port() + " cannot be opened: " + e.getMessage(), e);
        }
    }

    private record Server(ActorSystem<Done> system, URI uri) implements Running {
        @Override
        public boolean isAlive() {
            return !system.whenTerminated().isCompleted();
        }

        @Override
        public void close() {
            system.terminate();
            try {
                system.getWhenTerminated().toCompletableFuture().get(STOP.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                throw new IllegalStateException("the gateway does not end", e);
            }
        }
    }
}
