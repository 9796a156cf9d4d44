package understudy.routing;

/**
 * Provider of a routing policy. Those that {@link java.util.ServiceLoader} finds on the class path may be named in a
 * scenario as the built-in ones are.
 */
public interface RoutingPolicyProvider {

    /** Returns the policy's name in a scenario, in lower case and with hyphens; no other policy has it. */
    String name();

    /**
     * Reads the policy's settings, and returns what makes it.
     *
     * @param settings the section {@code router.<name>}, which may have any keys
     */
    RoutingPolicyFactory read(PolicySettings settings);
}
