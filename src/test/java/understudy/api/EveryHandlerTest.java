package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is let in, asked of each path that there is. */
final class EveryHandlerTest {
    private static final Set<String> CLOSED_TO_FOREIGN_PAGES = Set.of(
            "/v1/load_lora_adapter",
            "/v1/unload_lora_adapter",
            "/server_info",
            "/reset_prefix_cache",
            "/sleep",
            "/wake_up",
            "/is_sleeping",
            "/pause",
            "/resume",
            "/is_paused",
            "/abort_requests",
            "/collective_rpc",
            "/get_world_size",
            "/reset_mm_cache",
            "/reset_encoder_cache");

    private static final Set<String> OF_POOLING_MODELS = Set.of(
            "/v1/embeddings", "/pooling", "/classify", "/score", "/v1/score", "/rerank", "/v1/rerank", "/v2/rerank");

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    /** As in vLLM, the key is for everything below /v1, and for nothing else. */
    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST"})
    void pathsOfV1_needTheKey(String method) {
        server.apiKey = "secret";
        server.start();
        var ofV1 = handlers(path -> path.startsWith("/v1/"));

        assertThat(ofV1).hasSizeGreaterThan(5);
        assertThat(handlers(path -> status(method, path) == 401)).isEqualTo(ofV1);
        assertThat(handlers(path -> status(method, path, "Authorization", "Bearer secre") == 401))
                .isEqualTo(ofV1);
        assertThat(handlers(path -> status(method, path, "Authorization", "Bearer secret") == 401))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST"})
    void foreignPages_areKeptFromWhatControlsTheEngine(String method) {
        server.start();

        assertThat(handlers(path -> status(method, path, "Origin", "https://evil.example") == 403))
                .isEqualTo(new TreeSet<>(CLOSED_TO_FOREIGN_PAGES));
        assertThat(handlers(path -> status(method, path, "Sec-Fetch-Site", "cross-site") == 403))
                .isEqualTo(new TreeSet<>(CLOSED_TO_FOREIGN_PAGES));
        assertThat(handlers(path -> status(method, path) == 403)).isEmpty();
    }

    /** All but the pages themselves, the probe that vLLM does not have, and what only pooling models do. */
    @Test
    void docs_nameEachPath() {
        server.moreSettings = "server.dev-mode = true";
        server.start();
        var paths = server.get("/openapi.json").json().get("paths");

        assertThat(handlers(path -> !paths.has(path) && !OF_POOLING_MODELS.contains(path)))
                .containsExactlyInAnyOrder("/docs", "/redoc", "/openapi.json", "/health/ready");
    }

    /** vLLM 0.29 has two of its endpoints only if it is told to. */
    @Test
    void pathsThatTheVersionDoesNotHave_areNotThere() {
        server.moreSettings = "engine.version = 0.29";
        server.start();
        var absent = Set.of("/inference/v1/generate", "/v1/chat/completions/render");
        var paths = server.get("/openapi.json").json().get("paths");

        assertThat(handlers(path -> status("POST", path) == 404)).containsAll(absent);
        try (var recorded = new ServerFixture()) {
            recorded.start();
            assertThat(absent).noneMatch(path -> recorded.post(path, "{}").status() == 404);
        }
        assertThat(server.post("/inference/v1/generate", "{}").text())
                .isEqualTo(server.post("/nothing", "{}").text());
        assertThat(absent).noneMatch(paths::has);
        assertThat(server.get("/version").json().get("version").asText()).isEqualTo("0.29.0");
        assertThat(server.get("/openapi.json").json().get("info").get("version").asText())
                .isEqualTo("0.29.0");
    }

    @Test
    void pathsThatTheVersionDoesNotHave_canBeAskedFor() {
        server.moreSettings = "engine.version = 0.30, server.absent-endpoints = [], server.vllm-version = mine";
        server.start();

        assertThat(status("POST", "/inference/v1/generate")).isNotEqualTo(404);
        assertThat(server.get("/version").json().get("version").asText()).isEqualTo("mine");
    }

    private static Set<String> handlers(Predicate<String> are) {
        var found = new TreeSet<>(ServerEdge.HANDLERS);
        found.removeIf(are.negate());
        return found;
    }

    private int status(String method, String path, String... headers) {
        return method.equals("GET")
                ? server.get(path, headers).status()
                : server.post(path, "", headers).status();
    }
}
