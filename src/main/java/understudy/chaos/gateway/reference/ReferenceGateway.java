package understudy.chaos.gateway.reference;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
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
 * @param isInformed whether it also reads the metrics and KV events of the replicas, and routes by them
 * @param wrong what it gets wrong
 */
public record ReferenceGateway(boolean isInformed, WrongDecision wrong) implements GatewayUnderTest {
    private static final String NAME = "reference";
    private static final String INFORMED = "informed";
    private static final int START_SECONDS = 10;
    private static final Duration STOP = Duration.ofSeconds(5);

    /** Creates a gateway that reads metrics and KV events if it gets them wrong. */
    public ReferenceGateway(WrongDecision wrong) {
        this(wrong.isOfSignals(), wrong);
    }

    /** Returns all gateways by the names that targets have: {@code reference}, and {@code reference:NAME}. */
    public static Map<String, ReferenceGateway> byName() {
        var all = new LinkedHashMap<String, ReferenceGateway>();
        for (var wrong : WrongDecision.values()) {
            var gateway = new ReferenceGateway(wrong);
            all.put(wrong == WrongDecision.NONE ? NAME : NAME + ":" + gateway.name(), gateway);
        }
        all.put(NAME + ":" + INFORMED, new ReferenceGateway(true, WrongDecision.NONE));
        return all;
    }

    @Override
    public String name() {
        return wrong != WrongDecision.NONE ? wrong.text() : isInformed ? INFORMED : NAME;
    }

    @Override
    public Running start(Setup setup) throws IOException {
        var loader = ReferenceGateway.class.getClassLoader();
        var config = ConfigFactory.parseResources(loader, "understudy/chaos/gateway/reference/gateway.conf")
                .withFallback(ConfigFactory.load(loader));
        var ca = setup.ca();
        var tls = ca == null ? null : ReplicaTrust.context(ca, wrong);
        var system = ActorSystem.create(Behaviors.<Done>empty(), "reference-gateway", config);
        var proxy = new Proxy(system, setup.backends(), tls, isInformed, wrong);
        try {
            proxy.bind(setup.port()).toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
            return new Server(system, proxy, URI.create("http://127.0.0.1:" + setup.port()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            proxy.close();
            system.terminate();
            throw new IOException("interrupted while the gateway was starting", e);
        } catch (ExecutionException | TimeoutException e) {
            proxy.close();
            system.terminate();
            throw new IOException("port " + setup.port() + " cannot be opened: " + e.getMessage(), e);
        }
    }

    private record Server(ActorSystem<Done> system, Proxy proxy, URI uri) implements Running {
        @Override
        public boolean isAlive() {
            return !system.whenTerminated().isCompleted();
        }

        @Override
        public void close() {
            proxy.close();
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
