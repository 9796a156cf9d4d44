package understudy.api.call;

import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.RemoteKv;

/** Reading of {@code kv_transfer_params}, by which a proxy has one process compute the prompt and another one answer. */
public final class KvTransferFields {
    private static final int MAX_PORT = 65_535;

    private KvTransferFields() {}

    /**
     * Returns what the fields say, or null if they ask for nothing.
     *
     * @throws ApiException if a field is missing that says where the KV is, or makes no sense; vLLM would wait for ever
     */
    public static @Nullable KvTransferParams read(JsonBody fields) {
        boolean doRemoteDecode = fields.bool("do_remote_decode", false);
        boolean doRemotePrefill = fields.bool("do_remote_prefill", false);
        if (doRemoteDecode && doRemotePrefill) {
            throw ApiException.badRequest(
                    "do_remote_decode and do_remote_prefill must not both be true.", fields.at("do_remote_prefill"));
        }
        if (doRemotePrefill) {
            return remotePrefill(fields);
        }
        return doRemoteDecode ? KvTransferParams.OUTSIDE_DECODE : null;
    }

    private static KvTransferParams remotePrefill(JsonBody fields) {
        var blocks = fields.require("remote_block_ids");
        if (!blocks.isArray() || blocks.isEmpty()) {
            throw ApiException.invalid("Input should be a list of lists of blocks", fields.at("remote_block_ids"));
        }
        fields.require("remote_port");
        int port = fields.integer("remote_port", 0);
        if (port < 1 || port > MAX_PORT) {
            throw ApiException.invalid("Input should be from 1 to " + MAX_PORT, fields.at("remote_port"));
        }
        int numTokens = fields.integer("remote_num_tokens", Integer.MAX_VALUE);
        if (numTokens < 0) {
            throw ApiException.invalid("Input should be at least 0", fields.at("remote_num_tokens"));
        }
        var kv = new RemoteKv(
                requiredText(fields, "remote_engine_id"),
                requiredText(fields, "remote_request_id"),
                requiredText(fields, "remote_host"),
                port);
        return KvTransferParams.outsidePrefill(kv, numTokens);
    }

    private static String requiredText(JsonBody fields, String key) {
        fields.require(key);
        String text = fields.text(key);
        if (text == null || text.isBlank()) {
            throw ApiException.invalid("Input should be a non-empty string", fields.at(key));
        }
        return text;
    }
}
