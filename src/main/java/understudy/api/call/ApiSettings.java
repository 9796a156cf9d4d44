package understudy.api.call;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.api.http.HttpSettings;
import understudy.api.http.PodNames;
import understudy.api.model.ModelSettings;

/**
 * Settings of a server.
 *
 * @param http settings of its HTTP port
 * @param firstReplicaPort port of the first replica, from which those of the others are counted up, or 0 for any that are
 *     free; empty if they have no ports of their own
 * @param downReplicas behaviour of such a port while its replica is not up
 * @param pod whose names are on every response
 * @param sideChannel port at which other processes ask for KV that is kept for them; empty if none do
 * @param loras LoRA adapters that there are from the start; null without LoRA
 * @param admission limits beyond which calls are turned away before the engine
 * @param hasLegacyMetrics whether metrics also have the names that vLLM had before 2026
 * @param sglang what replicas of SGLang's engine show besides
 * @param models names under which the model is known, at least one; answers carry the first
 * @param vllmVersion the version of vLLM that the server says it is
 * @param hardware the model and the GPUs whose times the emulation has, in words
 * @param model how answers come about
 * @param absent parts of the API that the engine's version does not have
 * @param surface features beside the API: log, pages, endpoints for development
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record ApiSettings(
        HttpSettings http,
        OptionalInt firstReplicaPort,
        DownReplicas downReplicas,
        PodNames pod,
        Optional<SideChannelSettings> sideChannel,
        @Nullable LoraModules loras,
        AdmissionLimits admission,
        boolean hasLegacyMetrics,
        Sglang sglang,
        List<String> models,
        String vllmVersion,
        String hardware,
        ModelSettings model,
        Absent absent,
        Surface surface)
        implements ApiSettingsBuilder.With {
    /**
     * Features of a server beside its API.
     *
     * @param hasAccessLog whether each response has a line on standard output
     * @param unlogged paths whose responses have none all the same
     * @param hasDocs whether there are pages about the API
     * @param hasDevEndpoints whether the endpoints of vLLM's development mode are there
     * @param numWorkers processes of a replica, one on each GPU
     */
    public record Surface(
            boolean hasAccessLog, Set<String> unlogged, boolean hasDocs, boolean hasDevEndpoints, int numWorkers) {

        /** Returns the same without the log. */
        public Surface withoutAccessLog() {
            return new Surface(false, unlogged, hasDocs, hasDevEndpoints, numWorkers);
        }
    }

    /**
     * Parts of the API that there are here, but not in the engine's version.
     *
     * @param endpoints paths that answer 404
     * @param families names of metric families
     */
    public record Absent(Set<String> endpoints, Set<String> families) {
        public Absent {
            endpoints = Set.copyOf(endpoints);
            families = Set.copyOf(families);
        }
    }

    /**
     * Settings of servers of SGLang.
     *
     * @param hasMetrics whether there are its metrics ({@code --enable-metrics})
     * @param reportsCache whether answers tell what was cached of their prompts ({@code --enable-cache-report})
     * @param adminApiKey the key to what changes an engine ({@code --admin-api-key}), or empty
     */
    public record Sglang(boolean hasMetrics, boolean reportsCache, String adminApiKey) {}

    /** Behaviour of the own port of a replica that has crashed or starts again. */
    public enum DownReplicas {
        /** Connections are refused: the process is not there. */
        REFUSE,
        /** {@code /health} answers 503, as vLLM's API server does when its engine has died. */
        UNHEALTHY
    }

    /** Returns whether each replica also has a port of its own. */
    public boolean portsPerReplica() {
        return firstReplicaPort.isPresent();
    }

    /** Returns the name that answers carry. */
    public String servedModel() {
        return models.get(0);
    }
}
