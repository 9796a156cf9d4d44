package understudy.api.call;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import understudy.api.http.Json;
import understudy.cluster.Cluster;
import understudy.cluster.RequestEvent;

/**
 * Address at which other processes ask for KV that is kept for them, and the names under which it is kept.
 *
 * @param engineId unlike that of any other process, before or after this one
 * @param host that others can reach
 * @param port of the side channel
 * @param tensorParallelSize GPUs that share each layer of a replica
 */
public record KvAddress(String engineId, String host, int port, int tensorParallelSize) {
    private static final String RANK = "_dp";
    private static final Pattern INDEX = Pattern.compile("\\d{1,6}");
    private static final Pattern NUMBER = Pattern.compile("[0-9a-f]{8,15}");

    /** Returns the index of the replica that is meant by a {@code remote_engine_id}; empty if it is none of this process. */
    public OptionalInt replicaOf(String remoteEngineId) {
        String prefix = engineId + RANK;
        String index = remoteEngineId.startsWith(prefix) ? remoteEngineId.substring(prefix.length()) : "";
        return INDEX.matcher(index).matches() ? OptionalInt.of(Integer.parseInt(index)) : OptionalInt.empty();
    }

    /** Returns the number of the request that is meant by a {@code remote_request_id}; empty if it has another form. */
    public static OptionalLong numberOf(String remoteRequestId) {
        String number = remoteRequestId.substring(remoteRequestId.lastIndexOf('-') + 1);
        return NUMBER.matcher(number).matches() ? OptionalLong.of(Long.parseLong(number, 16)) : OptionalLong.empty();
    }

    /** Clients choose the name of a request, which need not be the only one of that name. */
    private static String requestId(Generation generation) {
        return String.format("%s-%08x", generation.spec().name(), generation.id());
    }

    /**
     * Returns the field {@code kv_transfer_params} of the answer to a request whose blocks are kept, as vLLM's {@code
     * NixlConnector} in pull mode returns it from {@code request_finished}. Of the last output token there is no KV.
     *
     * @param finished the end of the request, which names the replica that keeps them
     */
    ObjectNode params(Generation generation, RequestEvent.Finished finished, Cluster.Kept kept) {
        var params = Json.object().put("do_remote_prefill", true).put("do_remote_decode", false);
        var blocks = params.putArray("remote_block_ids").addArray();
        kept.blocks().forEach(blocks::add);
        return params.put(
                        "remote_engine_id", engineId + RANK + finished.timing().replicaIndex())
                .put("remote_request_id", requestId(generation))
                .put("remote_host", host)
                .put("remote_port", port)
                .put("tp_size", tensorParallelSize)
                .put("remote_num_tokens", generation.spec().prompt().length() + finished.numOutputTokens() - 1)
                .putNull("remote_blocks_expiry_time")
                .put("transfer_mode", "pull");
    }
}
