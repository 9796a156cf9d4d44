package understudy.testkit;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.api.EmulationServer;
import understudy.cluster.ClusterEvent;
import understudy.cluster.Router;
import understudy.host.ClusterHost;
import understudy.runtime.Stopwatch;
import understudy.scenario.EmbeddedScenario;

/** The HTTP server of an emulated cluster, and how many requests have come in by it. */
final class HttpFront implements AutoCloseable {
    private static final long LIMIT_SECONDS = 20;

    private final EmulationServer server;
    private final URI uri;
    private long numArrived;

    HttpFront(ClusterHost host, EmbeddedScenario scenario, ClusterEvent.@Nullable Subscriber subscriber) {
        var settings = scenario.server();
        server = EmulationServer.attach(
                host,
                scenario.clusterSpec(),
                settings,
                subscriber,
                router -> host.spawn(counting(router), "interceptor"));
        String scheme = settings.http().tls() == null ? "http" : "https";
        uri = URI.create(scheme + "://" + hostAndPort(server.address()));
    }

    private static String hostAndPort(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /** Forwards each message to the router before counting it, so that a counted request is on its way already. */
    private Behavior<Router.Command> counting(ActorRef<Router.Command> router) {
        return Behaviors.receiveMessage(message -> {
            router.tell(message);
            if (message instanceof Router.Submit) {
                onArrival();
            }
            return Behaviors.same();
        });
    }

    private synchronized void onArrival() {
        numArrived++;
        notifyAll();
    }

    synchronized void awaitRequests(long count) {
        var waiting = Stopwatch.start();
        try {
            while (numArrived < count) {
                long millis = TimeUnit.SECONDS.toMillis(LIMIT_SECONDS) - (long) (waiting.seconds() * 1e3);
                if (millis <= 0) {
                    throw new AssertionError("expected " + count + " requests over HTTP, but only " + numArrived
                            + " have come within " + LIMIT_SECONDS
                            + " s; calls that the server refuses do not get that far");
                }
                wait(millis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for requests", e);
        }
    }

    EmulationServer server() {
        return server;
    }

    URI uri() {
        return uri;
    }

    /** Returns the sum of the series of a name whose labels contain a text. */
    double metric(String name, String label) {
        return server.api()
                .metrics()
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .filter(line -> line.contains(label))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Override
    public void close() {
        server.close();
    }
}
