package understudy.kvcache.connector;

/**
 * Place of a prompt's KV in another process (vLLM's {@code remote_*} of {@code kv_transfer_params}).
 *
 * @param engineId of the process and the replica in it that hold it ({@code remote_engine_id})
 * @param requestId by which it is held there ({@code remote_request_id})
 * @param host name or address of the server to ask for it ({@code remote_host})
 * @param port its port, 1 to 65535 ({@code remote_port})
 */
public record RemoteKv(String engineId, String requestId, String host, int port) {}
