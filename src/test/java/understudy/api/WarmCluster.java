package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

/** Two ready replicas that have a prompt in their prefix caches, and whether they still are what they were. */
public final class WarmCluster {
    private static final String PROMPT =
            "{\"prompt\": \"" + "Something that is kept. ".repeat(20) + "\", \"max_tokens\": 1}";

    private final ServerFixture server;

    private WarmCluster(ServerFixture server) {
        this.server = server;
    }

    public static WarmCluster start(ServerFixture server) {
        server.numReplicas = 2;
        server.start();
        var cluster = new WarmCluster(server);
        // Round robin: one for each.
        cluster.cachedTokens();
        cluster.cachedTokens();
        return cluster;
    }

    /** A clock that stood still would leave the calls without an answer. */
    public void hasNotChanged() {
        assertThat(server.cluster().states()).hasToString("[READY, READY]");
        assertThat(cachedTokens()).isPositive();
        assertThat(cachedTokens()).isPositive();
    }

    private int cachedTokens() {
        JsonNode answer = server.post("/v1/completions", PROMPT).json();
        return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
    }
}
