package understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import understudy.settings.ScenarioException;

final class TargetOptionsTest {
    private static final String CHAT = "--endpoint=/v1/chat/completions";

    @Test
    void modelIsThatOfTheServer_unlessItIsNamed() throws InterruptedException {
        assertThat(target(false).model()).isEqualTo("first");
        assertThat(target(false, "--model=other").model()).isEqualTo("other");
    }

    @Test
    void promptsAreIds_unlessTheyAreTextAnyway() throws InterruptedException {
        assertThat(target(false).sendsIds()).isTrue();
        assertThat(target(true).sendsIds()).isFalse();
        assertThat(target(false, CHAT).sendsIds()).isFalse();
        assertThat(target(true, "--prompts=ids").sendsIds()).isTrue();
        assertThatThrownBy(() -> target(false, CHAT, "--prompts=ids"))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith("--prompts ids:");
    }

    @Test
    void answersOfChatFiles_mayEndByThemselves() throws InterruptedException {
        assertThat(target(false).ignoresEos()).isTrue();
        assertThat(target(true).ignoresEos()).isFalse();
        assertThat(target(true, "--ignore-eos").ignoresEos()).isTrue();
        assertThat(target(false, "--no-ignore-eos").ignoresEos()).isFalse();
    }

    @Test
    void keyBecomesAHeader_unlessThereIsOne() throws InterruptedException {
        assertThat(target(false).headers()).containsEntry("Authorization", "Bearer key");
        assertThat(target(false, "--header=Authorization=Basic x").headers()).containsEntry("Authorization", "Basic x");
    }

    @Test
    void urlMayEndAsClientsOfOpenAiKnowIt_andHaveAPath() {
        assertThat(options("http://h:1/gateway/v1/").base()).hasToString("http://h:1/gateway");
        assertThat(options("h:1").base()).hasToString("http://h:1");
        assertThatThrownBy(() -> options("http://").base())
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith("http://: not the URL of a server");
        var target = BenchFixture.target("http://h:1/gateway", "/v1/completions", true);
        assertThat(target.uri()).hasToString("http://h:1/gateway/v1/completions");
    }

    private static BenchTarget target(boolean isShareGpt, String... options) throws InterruptedException {
        try (var server = new ScriptedServer((number, call) -> {
            call.sendResponseHeaders(200, 0);
            call.getResponseBody().write("{\"data\": [{\"id\": \"first\"}]}".getBytes(StandardCharsets.US_ASCII));
        })) {
            return options(server.url(), options).target("key", isShareGpt, true);
        }
    }

    private static TargetOptions options(String url, String... options) {
        var parsed = new TargetOptions();
        var all = new ArrayList<>(List.of(options));
        all.add(url);
        new CommandLine(parsed).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(all.toArray(String[]::new));
        return parsed;
    }
}
