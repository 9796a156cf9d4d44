package understudy.sweep.remote;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.LoggerFactory;
import understudy.settings.ScenarioException;

/**
 * Machine in the cluster of a sweep.
 *
 * @param address by which others reach it
 * @param bind address that it listens at, if that is not its own name
 * @param tls directory with {@code tls.key}, {@code tls.crt} and {@code ca.crt}, all PEM; without one nothing is encrypted
 * @param secret that all machines share; {@link Secret#NONE} with TLS
 */
public record Node(HostPort address, Optional<String> bind, Optional<Path> tls, Secret secret) {
    static final String SYSTEM = "understudy-sweep";
    private static final long END_SECONDS = 15;
    private static final List<String> TLS_FILES = List.of("tls.key", "tls.crt", "ca.crt");

    /** Creates a machine that TLS tells from strangers. */
    public static Node withTls(HostPort address, Optional<String> bind, Path directory) {
        return new Node(address, bind, Optional.of(directory), Secret.NONE);
    }

    /** Creates a machine that its secret tells from strangers. */
    public static Node withSecret(HostPort address, Optional<String> bind, Secret secret) {
        return new Node(address, bind, Optional.empty(), secret);
    }

    /** Refuses TLS without its files. */
    public Node {
        for (String file : tls.isPresent() ? TLS_FILES : List.<String>of()) {
            var path = tls.get().resolve(file);
            if (!Files.isReadable(path)) {
                throw new ScenarioException("--tls: " + path + " cannot be read; the directory has " + TLS_FILES);
            }
        }
    }

    /** Returns the address that this machine has towards another one, with any port. */
    public static HostPort towards(HostPort other) {
        try (var socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(other.host(), Math.max(1, other.port())));
            return new HostPort(socket.getLocalAddress().getHostAddress(), 0);
        } catch (IOException | RuntimeException e) {
            return new HostPort(localHost(), 0);
        }
    }

    private static String localHost() {
        try {
            return InetAddress.getLocalHost().getHostAddress();
        } catch (IOException e) {
            return InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    /** Returns the machine of an actor, for people. */
    static String of(ActorRef<?> actor) {
        String address = actor.path().address().hostPort();
        return address.substring(address.indexOf('@') + 1);
    }

    /** Returns the settings of an actor system that joins one of the seed nodes. */
    Config config(List<HostPort> seeds) {
        var loader = Node.class.getClassLoader();
        return ConfigFactory.parseMap(settings(seeds))
                .withFallback(ConfigFactory.parseResources(loader, "understudy/sweep/cluster.conf"))
                .withFallback(ConfigFactory.defaultReferenceUnresolved(loader))
                .resolve();
    }

    private Map<String, Object> settings(List<HostPort> seeds) {
        String scheme = "pekko://" + SYSTEM + "@";
        var settings = new HashMap<String, Object>();
        settings.put(
                "pekko.cluster.seed-nodes",
                seeds.stream().map(seed -> scheme + seed).toList());
        settings.put("pekko.remote.artery.canonical.hostname", address.host());
        settings.put("pekko.remote.artery.canonical.port", address.port());
        settings.put("pekko.remote.artery.transport", tls.isPresent() ? "tls-tcp" : "tcp");
        bind.ifPresent(host -> settings.put("pekko.remote.artery.bind.hostname", host));
        tls.ifPresent(directory -> {
            settings.put(
                    "pekko.remote.artery.ssl.ssl-engine-provider",
                    "org.apache.pekko.remote.artery.tcp.ssl.RotatingKeysSSLEngineProvider");
            settings.put(
                    "pekko.remote.artery.ssl.rotating-keys-engine.secret-mount-point",
                    directory.toAbsolutePath().toString());
        });
        return settings;
    }

    /** Waits for the end of an actor system; a connection that does not end is left to the end of the process. */
    static void awaitEnd(ActorSystem<?> system) {
        system.getWhenTerminated()
                .toCompletableFuture()
                .completeOnTimeout(Done.getInstance(), END_SECONDS, TimeUnit.SECONDS)
                .join();
    }

    /**
     * Starts an actor system.
     *
     * @throws ScenarioException if the address cannot be had; Pekko would say so in many lines
     */
    <T> ActorSystem<T> start(Supplier<ActorSystem<T>> create) {
        String host = bind.orElse(address.host());
        try {
            new ServerSocket(address.port(), 1, InetAddress.getByName(host)).close();
        } catch (IOException e) {
            throw new ScenarioException("cannot listen at " + host + ":" + address.port() + ": " + e.getMessage());
        }
        LoggerFactory.getLogger(Node.class);
        return create.get();
    }
}
