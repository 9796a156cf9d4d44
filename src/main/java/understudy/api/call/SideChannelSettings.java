package understudy.api.call;

import java.util.stream.Stream;

/**
 * Settings of the port at which other processes ask for KV that is kept for them.
 *
 * @param host address that they are told ({@code VLLM_NIXL_SIDE_CHANNEL_HOST})
 * @param port to listen at, 0 for any that is free ({@code VLLM_NIXL_SIDE_CHANNEL_PORT})
 * @param tensorParallelSize GPUs that share each layer of a replica, which they are told, too
 */
public record SideChannelSettings(String host, int port, int tensorParallelSize) {

    /** Returns the address to tell others, where no setting says it: the environment's, or that of the server. */
    public static String hostToTell(String serverHost) {
        return Stream.of("VLLM_NIXL_SIDE_CHANNEL_HOST", "POD_IP")
                .map(System::getenv)
                .filter(value -> value != null && !value.isBlank())
                .findFirst()
                .orElse(serverHost);
    }
}
