package understudy.app;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.chaos.autoscaler.AutoscalerUnderTest;
import understudy.chaos.autoscaler.CommandAutoscaler;
import understudy.chaos.autoscaler.reference.ReferenceAutoscaler;
import understudy.chaos.autoscaler.reference.WrongScaling;
import understudy.chaos.gateway.CommandGateway;
import understudy.chaos.gateway.GatewayUnderTest;
import understudy.chaos.gateway.RunningGateway;
import understudy.chaos.gateway.reference.ReferenceGateway;
import understudy.settings.KnownKeys;
import understudy.settings.ScenarioException;

/** Options that say which gateway or autoscaler {@code chaos} judges, and where a gateway finds the replicas. */
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

    @Option(
            names = "--autoscaler",
            paramLabel = "LINE",
            description = "Judges an autoscaler in place of a gateway: the command of the shell that starts it; or"
                    + " reference, or reference:NAME.")
    private @Nullable String autoscaler;

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
            return new CommandGateway(line, configFile());
        }
        String name = String.valueOf(target);
        if (isReference(name)) {
            return known("TARGET", name, ReferenceGateway.byName());
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

    /** Returns the autoscaler, which has not been started, if it is one that is judged. */
    Optional<AutoscalerUnderTest> autoscaler() {
        if (autoscaler == null) {
            return Optional.empty();
        }
        if (target != null || line != null || ports != null || isTls) {
            throw new ScenarioException("--autoscaler takes the place of TARGET, --command, --ports and --tls");
        }
        return Optional.of(
                isReference(autoscaler)
                        ? new ReferenceAutoscaler(known("--autoscaler", autoscaler, wrongScalings()))
                        : new CommandAutoscaler(autoscaler, configFile()));
    }

    private @Nullable Path configFile() {
        if (config != null && !Files.isRegularFile(config)) {
            throw new ScenarioException("--config is " + config + ", which is not a file");
        }
        return config;
    }

    private static boolean isReference(String name) {
        return name.equals(REFERENCE) || name.startsWith(REFERENCE + ":");
    }

    private static Map<String, WrongScaling> wrongScalings() {
        var known = new LinkedHashMap<String, WrongScaling>();
        for (var wrong : WrongScaling.values()) {
            known.put(wrong == WrongScaling.NONE ? REFERENCE : REFERENCE + ":" + wrong.text(), wrong);
        }
        return known;
    }

    private static <T> T known(String option, String name, Map<String, T> known) {
        var named = known.get(name);
        if (named == null) {
            throw new ScenarioException(option + " is \"" + name + "\"" + meant(name, new TreeSet<>(known.keySet())));
        }
        return named;
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
