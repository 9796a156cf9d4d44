package understudy.kvcache.connector;

/**
 * Place of a prompt's KV in another process (vLLM's {@code remote_*} of {@code kv_transfer_params}); of SGLang, the room in
 * which two processes meet that have the request at the same time ({@code bootstrap_*}).
 *
 * @param engineId of the process and the replica in it that hold it ({@code remote_engine_id})
 * @param requestId by which it is held there ({@code remote_request_id})
 * @param host name or address of the server to ask for it ({@code remote_host})
 * @param port its port, 1 to 65535 ({@code remote_port})
 */
public record RemoteKv(String engineId, String requestId, String host, int port) {
    /** Host that stands for another process that is always there and takes everything at once (SGLang's {@code FAKE}). */
    public static final String FAKE_HOST = "2.2.2.2";

    /** Returns a room, which has its name as its request; the other process is not named. */
    public static RemoteKv room(long room, String host, int port) {
        return new RemoteKv("", String.valueOf(room), host, port);
    }

    /** Returns whether there is nobody to meet. */
    public boolean isFake() {
        return host.equals(FAKE_HOST);
    }

    /** Returns the address to ask. */
    public String address() {
        return host + ":" + port;
    }
}
