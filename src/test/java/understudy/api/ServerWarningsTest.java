package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;

final class ServerWarningsTest {

    @Test
    void sessionCache_isOnlyForCallsWithASession() {
        assertThat(warnings(Map.of("kv-cache.sessions", "detailed")))
                .singleElement()
                .asString()
                .contains("kv-cache.sessions", "X-Session-Id", "previous_response_id");
        assertThat(warnings(Map.of())).isEmpty();
        assertThat(warnings(Map.of("kv-cache.sessions", "detailed", "kv-cache.enable-prefix-caching", "false")))
                .as("a cache that is off")
                .isEmpty();
    }

    @Test
    void keepingKv_atFullSpeed() {
        String connector = "kv-cache.transfer.kv-connector";
        assertThat(warnings(Map.of(connector, "nixl"))).isEmpty();
        assertThat(warnings(Map.of("clock.speed", "max"))).isEmpty();
        assertThat(warnings(Map.of(connector, "nixl", "clock.speed", "max")))
                .singleElement()
                .asString()
                .contains("clock.speed is max");
    }

    private static List<String> warnings(Map<String, String> settings) {
        var all = new HashMap<>(settings);
        all.put("router.policy", "session-affinity");
        return Scenario.read(new ScenarioFile(Map.of()).load("conf/serve.conf", all))
                .server()
                .warnings();
    }
}
