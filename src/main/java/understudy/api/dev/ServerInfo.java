package understudy.api.dev;

import com.fasterxml.jackson.databind.node.ObjectNode;
import understudy.api.call.ApiSettings;
import understudy.api.http.Json;
import understudy.cluster.ReplicaSpec;

/**
 * The settings of a replica, under the names of vLLM's {@code VllmConfig}; settings that the emulation has not are left
 * out.
 */
public record ServerInfo(ApiSettings settings, ReplicaSpec replica) {

    /** Returns vLLM's configuration as it is printed. */
    String text() {
        var model = settings.model();
        var config = json();
        return "model='" + settings.servedModel() + "', speculative_config=" + python(config, "/speculative_config")
                + ", max_seq_len=" + model.maxModelLen()
                + ", pipeline_parallel_size=" + python(config, "/parallel_config/pipeline_parallel_size")
                + ", seed=" + model.seed()
                + ", served_model_name=" + settings.servedModel()
                + ", enable_prefix_caching=" + python(config, "/cache_config/enable_prefix_caching")
                + ", enable_chunked_prefill=" + python(config, "/scheduler_config/enable_chunked_prefill");
    }

    /** Returns a value as Python writes it. */
    private static String python(ObjectNode config, String path) {
        var value = config.at(path);
        if (value.isNull() || value.isMissingNode()) {
            return "None";
        }
        return value.isBoolean() ? (value.asBoolean() ? "True" : "False") : value.toString();
    }

    /** Returns vLLM's configuration by its parts. */
    ObjectNode json() {
        var config = Json.object();
        var model = config.putObject("model_config").put("model", settings.servedModel());
        var names = model.putArray("served_model_name");
        settings.models().forEach(names::add);
        model.put("max_model_len", settings.model().maxModelLen())
                .put("seed", settings.model().seed());
        replica.engine().describe().forEach((name, values) -> config.set(name, Json.read(Json.write(values))));
        config.withObject("/cache_config")
                .put("prefix_caching_hash_algo", settings.model().hashAlgorithm());
        int numDrafts = replica.engineTraits().numSpeculativeTokens();
        config.set(
                "speculative_config",
                numDrafts == 0 ? config.nullNode() : Json.object().put("num_speculative_tokens", numDrafts));
        return config;
    }
}
