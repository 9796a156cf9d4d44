package understudy.api.call;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Settings of the port at which other processes ask for KV that is kept for them, or will be sent to them.
 *
 * @param host address that they are told ({@code VLLM_NIXL_SIDE_CHANNEL_HOST})
 * @param port to listen at, 0 for any that is free ({@code VLLM_NIXL_SIDE_CHANNEL_PORT}); with rooms also the one to ask at
 *     if a call names none (SGLang {@code --disaggregation-bootstrap-port})
 * @param peers processes that words may be sent to
 * @param tensorParallelSize GPUs that share each layer of a replica, which they are told, too
 * @param rooms whether processes meet in rooms
 */
public record SideChannelSettings(String host, int port, SideChannelPeers peers, int tensorParallelSize, Rooms rooms) {
    /** Whether processes meet in rooms. */
    public enum Rooms {
        /** They do not: what one keeps another one asks for. */
        NONE,
        /** They do, and this one computes prompts: others ask here. */
        OFFERED,
        /** They do, and this one only asks others. */
        VISITED
    }

    private static final Set<String> ANY_ADDRESS = Set.of("0.0.0.0", "::", "[::]");

    /**
     * Returns the address to tell others, where no setting says it: the environment's, or that of the server; of one that
     * listens at all addresses, that of the machine, which in a pod is the pod's.
     */
    public static String hostToTell(String serverHost) {
        return Stream.of("VLLM_NIXL_SIDE_CHANNEL_HOST", "POD_IP")
                .map(System::getenv)
                .filter(value -> value != null && !value.isBlank())
                .findFirst()
                .orElseGet(() -> ANY_ADDRESS.contains(serverHost) ? ownHost() : serverHost);
    }

    private static String ownHost() {
        try {
            return InetAddress.getLocalHost().getHostAddress();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
