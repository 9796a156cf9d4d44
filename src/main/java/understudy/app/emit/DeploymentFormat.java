package understudy.app.emit;

import java.util.List;
import java.util.Map;

/** Form in which a deployment is written. */
public enum DeploymentFormat {
    /** Commands of a shell. */
    COMMANDS {
        @Override
        public Map<String, String> files(List<ServerCommand> servers, Release release) {
            return Map.of("commands.sh", ShellFile.of(servers, release));
        }
    },
    /** Files of {@code docker compose}. */
    COMPOSE {
        @Override
        public Map<String, String> files(List<ServerCommand> servers, Release release) {
            return ComposeFiles.of(servers, release);
        }
    },
    /** Manifests, and values of charts. */
    KUBERNETES {
        @Override
        public Map<String, String> files(List<ServerCommand> servers, Release release) {
            return KubernetesFiles.of(servers, release);
        }
    };

    /**
     * What all files say alike.
     *
     * @param scenario where the deployment is from, for comments
     * @param routerPolicy how the scenario chooses a replica
     * @param readsKvEvents whether that reads the replicas' KV events
     * @param image of Understudy, with its tag
     */
    public record Release(String scenario, String routerPolicy, boolean readsKvEvents, String image) {
        /** Returns what stands in front of the servers, in words. */
        String routing() {
            return "In front of them: a router with the policy " + routerPolicy
                    + (readsKvEvents ? ", which reads their KV events (--kv-events-config)." : ".");
        }
    }

    /** Returns the content of each file by its name. */
    public abstract Map<String, String> files(List<ServerCommand> servers, Release release);
}
