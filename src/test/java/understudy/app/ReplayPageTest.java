package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page that a replay leaves. Two equal prompts of one block of 512 tokens: any cache that has room for it hits the second,
 * which is half of all tokens.
 */
final class ReplayPageTest {
    private static final String TRACE = """
            {"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}
            {"timestamp": 5000, "input_length": 512, "output_length": 1, "hash_ids": [1]}
            """;
    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"data\">(.*?)</script>", Pattern.DOTALL);
    private static final Pattern LOADS = Pattern.compile(
            "<(?:script|img|iframe|object|embed|source|video|audio)[^>]*\\s(?:src|data)=|@import|url\\(|sourceMappingURL");

    @TempDir
    private Path directory;

    private String trace;

    @BeforeEach
    void writeTrace() throws IOException {
        trace = Files.writeString(directory.resolve("a<b>&\"<script>.jsonl"), TRACE)
                .toString();
    }

    @Test
    void page_loadsNothing() throws IOException {
        String page = page();

        assertThat(page)
                .contains("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'");
        assertThat(LOADS.matcher(page).results().map(match -> match.group())).isEmpty();
        assertThat(page).containsOnlyOnce("<link").contains("<link rel=\"icon\" href=\"data:,\">");
        assertThat(page).contains("Chart.js v4").doesNotContain("{{");
    }

    @Test
    void data_isThatOfTheJson() throws IOException {
        var data = data();
        var json = call("replay", trace, "--policy=lru,fifo,infinite", "--capacity=1", "--json=-")
                .json();

        assertThat(data.at("/result/runs")).hasSize(3).isEqualTo(json.path("runs"));
        assertThat(data.at("/result/sharing")).isEqualTo(json.path("sharing"));
        assertThat(data.at("/result/trace/files/0").asText()).isEqualTo(trace);
        assertThat(data.at("/files").asText()).isEqualTo(trace);
    }

    @Test
    void rates_sayWhichIsBest() throws IOException {
        var rates = data().get("rates");

        assertThat(rates.get("capacities")).hasToString("[1]");
        assertThat(rates.at("/policies/0"))
                .hasToString("{\"policy\":\"lru\",\"rates\":[{\"share\":0.5,\"best\":true}]}");
        assertThat(rates.at("/ideals/0"))
                .hasToString("{\"policy\":\"infinite\",\"rates\":[{\"share\":0.5,\"best\":false}]}");
    }

    @Test
    void withoutScripts_itHasItsMainFigures() throws IOException {
        assertThat(page())
                .contains("<tr><th>requests</th><td>2</td><td></td></tr>")
                .contains("<tr><th>overall_hit_rate.lru.1</th><td>50.00</td><td>%</td></tr>");
    }

    private JsonNode data() throws IOException {
        var matcher = DATA.matcher(page());
        assertThat(matcher.find()).isTrue();
        return new ObjectMapper().readTree(matcher.group(1));
    }

    private String page() throws IOException {
        var file = directory.resolve("page.html");
        var replay = call("replay", trace, "--policy=lru,fifo,infinite", "--capacity=1", "--html=" + file);
        assertThat(replay.exitCode).isZero();
        return Files.readString(file);
    }
}
