package understudy.app;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.chaos.gateway.CommandGateway;
import understudy.chaos.gateway.GatewayUnderTest;
import understudy.chaos.gateway.RunningGateway;
import understudy.chaos.gateway.reference.ReferenceGateway;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;

/** Options that say which gateway {@code chaos} judges, and where that one finds the replicas. */
final class ChaosTarget {
    private static final int MAX_PORT = 65535;
    private static final String REFERENCE = "reference";

    @Parameters(
            paramLabel = "TARGET",
            arity = "0..1",
            description =
                    "A gateway that runs already, by its address, with --ports; or reference, the kit's own, which"
                            + " keeps all laws; or reference:NAME, one with a known defect.")
    private @Nullable String target;

    @Option(names = "--command", paramLabel = "LINE", description = "Command of the shell that starts the gateway.")
    private @Nullable String line;

    @Option(names = "--config", paramLabel = "FILE", description = "File that is filled in for the command.")
    private @Nullable Path config;

    @Option(
            names = "--ports",
            paramLabel = "A-B",
            description = "Ports of the replicas, such as 9001-9003. Default: any that are free.")
    private @Nullable String ports;

    @Option(
            names = "--tls",
            description = "Replicas speak TLS, with certificates of an authority that is made for the run.")
    private boolean isTls;

    /** Returns whether replicas speak TLS. */
    boolean isTls() {
        return isTls;
    }

    /** Returns the gateway, which has not been started. */
    GatewayUnderTest gateway() {
        if ((line == null) == (target == null)) {
            throw new ScenarioException("there must be TARGET or --command, and not both");
        }
        if (line != null) {
            if (config != null && !Files.isRegularFile(config)) {
                throw new ScenarioException("--config is " + config + ", which is not a file");
            }
            return new CommandGateway(line, config);
        }
        String name = String.valueOf(target);
        if (name.equals(REFERENCE) || name.startsWith(REFERENCE + ":")) {
            return reference(name);
        }
        if (isTls) {
            throw new ScenarioException("a gateway that runs already cannot know the authority that --tls makes;"
                    + " start it by --command");
        }
        if (ports == null) {
            throw new ScenarioException(
                    "a gateway that runs already needs --ports, where it finds the replicas, such as --ports 9001-9003");
        }
        return new RunningGateway(address(name));
    }

    private static GatewayUnderTest reference(String name) {
        var known = ReferenceGateway.byName();
        var gateway = known.get(name);
        if (gateway == null) {
            throw new ScenarioException("TARGET is \"" + name + "\"" + meant(name, new TreeSet<>(known.keySet())));
        }
        return gateway;
    }

    private static URI address(String text) {
        try {
            var uri = new URI(text);
            if ("http".equals(uri.getScheme()) && uri.getHost() != null && uri.getPort() > 0) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // The message below says what is allowed.
        }
        throw new ScenarioException("TARGET is \"" + text
                + "\", must be an address such as http://127.0.0.1:8080, reference, or reference:NAME");
    }

    /** Returns the ports of the replicas; none if any will do. */
    List<Integer> ports() {
        if (ports == null) {
            return List.of();
        }
        var bounds = ports.split("-", -1);
        if (!ports.matches("\\d{1,5}(-\\d{1,5})?")) {
            throw new ScenarioException("--ports is \"" + ports + "\", must be a range such as 9001-9003");
        }
        int first = Integer.parseInt(bounds[0]);
        int last = Integer.parseInt(bounds[bounds.length - 1]);
        if (first < 1 || last > MAX_PORT || last < first) {
            throw new ScenarioException("--ports is \"" + ports + "\", must be a range from 1 to " + MAX_PORT);
        }
        return IntStream.rangeClosed(first, last).boxed().toList();
    }

    /** Returns the end of a message about an unknown name: what was meant, or what is known. */
    static String meant(String name, Collection<String> known) {
        return KnownKeys.near(name, known)
                .map(near -> "; did you mean " + near + "?")
                .orElseGet(() -> "; known are " + String.join(", ", known));
    }
}
