package understudy.app;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import understudy.settings.ScenarioException;
import understudy.sweep.remote.HostPort;
import understudy.sweep.remote.Node;
import understudy.sweep.remote.Secret;

/** Options of the commands that share a sweep over machines. */
final class ClusterOptions {
    private static final String DRIVER = "127.0.0.1:7355";

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            description = "By what name and port other machines reach this one. Default: of a driver " + DRIVER
                    + ", of a worker the address it has towards the driver, and any port.")
    private @Nullable String listen;

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "Where to listen if the name of --listen is not this machine's own, such as 0.0.0.0 behind a"
                    + " Kubernetes Service.")
    private @Nullable String bind;

    @Option(
            names = "--tls",
            paramLabel = "DIR",
            description =
                    "Encrypts, and lets in only who has a certificate of the same CA and a name in common: tls.key"
                            + " (RSA), tls.crt and ca.crt, in PEM, as a Kubernetes secret has them.")
    private @Nullable Path tls;

    @Option(
            names = "--insecure",
            description =
                    "Talks to other machines without TLS, by the secret alone: whoever reaches the network can read"
                            + " along.")
    private boolean isInsecure;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description =
                    "Where driver and workers have the secret that tells them from strangers without --tls. Default:"
                            + " .config/understudy/sweep-secret in the home directory, made if it is not there.")
    private @Nullable Path secretFile;

    /** Refuses the options where nothing is shared. */
    void requireUnset() {
        if (listen != null || bind != null || tls != null || isInsecure || secretFile != null) {
            throw new ScenarioException("--listen, --bind, --tls, --insecure and --secret-file go with --cluster");
        }
    }

    /** Returns the options of a worker's command line besides the driver's address. */
    String forWorkers() {
        String secret = secretFile == null ? "" : " --secret-file " + secretFile;
        String insecure = isInsecure ? " --insecure" : "";
        return tls != null ? " --tls " + tls : insecure + secret;
    }

    /** Returns the machine that hands out the work. */
    Node driver() {
        var address = HostPort.parse(listen == null ? DRIVER : listen);
        if (address.port() == 0) {
            throw new ScenarioException("--listen " + address + ": workers must know the port");
        }
        return node(address, bind == null && address.isLoopback());
    }

    /** Returns a machine that works for one of the drivers. */
    Node worker(List<HostPort> drivers) {
        var address = listen == null ? Node.towards(drivers.get(0)) : HostPort.parse(listen);
        return node(address, bind == null && drivers.stream().allMatch(HostPort::isLoopback));
    }

    private Node node(HostPort address, boolean isLoopback) {
        if (!isLoopback && tls == null && !isInsecure) {
            throw new ScenarioException("other machines can only be reached with --tls DIR, or with --insecure");
        }
        if (tls != null) {
            return Node.withTls(address, Optional.ofNullable(bind), tls);
        }
        var secret = secretFile == null ? Secret.readOrMake(Secret.usualFile()) : Secret.read(secretFile);
        return Node.withSecret(address, Optional.ofNullable(bind), secret);
    }
}
