package understudy.api.call;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import understudy.api.http.HttpSettings;
import understudy.api.model.ModelSettings;

/**
 * Settings of a server.
 *
 * @param http where it listens, and what it lets in
 * @param portsPerReplica whether each replica also has a port of its own, counted up from the one behind the server's
 * @param downReplicas what such a port does while its replica is not up
 * @param sideChannel where other processes ask for KV that is kept for them; empty if none do
 * @param loras LoRA adapters that there are from the start; null without LoRA
 * @param models names under which the model is known, at least one; answers carry the first
 * @param vllmVersion the version of vLLM that the server says it is
 * @param model how answers come about
 */
public record ApiSettings(
        HttpSettings http,
        boolean portsPerReplica,
        DownReplicas downReplicas,
        Optional<SideChannelSettings> sideChannel,
        @Nullable LoraModules loras,
        List<String> models,
        String vllmVersion,
        ModelSettings model) {
    /** Behaviour of the own port of a replica that has crashed or starts again. */
    public enum DownReplicas {
        /** Connections are refused: the process is not there. */
        REFUSE,
        /** {@code /health} answers 503, as vLLM's API server does when its engine has died. */
        UNHEALTHY
    }

    /** Returns the name that answers carry. */
    public String servedModel() {
        return models.get(0);
    }
}
