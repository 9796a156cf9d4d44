package understudy.scenario;

import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Environment variables that Kubernetes gives to a pod for each Service of its namespace, such as {@code
 * UNDERSTUDY_PORT_8000_TCP} for one named understudy. They are no settings, whatever they are called.
 *
 * @param services names of the Services as they begin those variables
 */
public record ServiceLinks(Set<String> services) {
    /** Ending of a variable that each Service has, and no setting. */
    private static final String HOST = "_SERVICE_HOST";

    private static final Pattern OTHERS = Pattern.compile("_SERVICE_PORT(_.+)?|_PORT_\\d+_(TCP|UDP|SCTP)(_.+)?");

    /** Finds the Services of an environment, of whose variables only those with a prefix matter. */
    public static ServiceLinks of(Map<String, String> environment, String prefix) {
        return new ServiceLinks(environment.keySet().stream()
                .filter(name -> name.startsWith(prefix) && name.endsWith(HOST))
                .map(name -> name.substring(0, name.length() - HOST.length()))
                .collect(Collectors.toUnmodifiableSet()));
    }

    /**
     * Returns whether a variable is about one of the Services.
     *
     * @param value tells the URL of a Service from a setting whose name ends with port
     */
    public boolean have(String variable, String value) {
        return services.stream().anyMatch(service -> {
            String rest = variable.startsWith(service) ? variable.substring(service.length()) : "";
            boolean isUrl = rest.equals("_PORT") && value.contains("://");
            return isUrl || rest.equals(HOST) || OTHERS.matcher(rest).matches();
        });
    }
}
