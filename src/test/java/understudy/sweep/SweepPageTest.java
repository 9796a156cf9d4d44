package understudy.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SweepPageTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static SweepRow row(Map<String, String> settings, double ttftMillis, Optional<SweepRow.Border> border) {
        var figures = JSON.createObjectNode()
                .put("completed", 10)
                .put("mean_ttft_ms", ttftMillis)
                .put(ParetoFront.PER_USER, ttftMillis)
                .put(ParetoFront.PER_GPU, 1000 - ttftMillis);
        var run = new PointResult("x", Optional.empty(), false, figures);
        return new SweepRow(new SweepPoint("x.conf", settings), List.of(run), List.of(), border);
    }

    /** Three by three settings; the TTFT is ten times the first and the second. */
    private static List<SweepRow> square(int size) {
        var rows = new ArrayList<SweepRow>();
        for (int i = 1; i <= size; i++) {
            for (int j = 1; j <= size; j++) {
                var settings = new LinkedHashMap<String, String>();
                settings.put("prefill", String.valueOf(i));
                settings.put("decode", String.valueOf(j));
                rows.add(row(settings, 10 * i + j, Optional.empty()));
            }
        }
        return rows;
    }

    private static JsonNode data(List<SweepRow> rows) throws IOException {
        String page = page(rows);
        String begin = "id=\"data\">";
        int from = page.indexOf(begin) + begin.length();
        return JSON.readTree(page.substring(from, page.indexOf("</script>", from)));
    }

    private static String page(List<SweepRow> rows) throws IOException {
        var out = new StringWriter();
        new SweepPage(rows, SweepColumns.of(rows, List.of())).write("Sweep", Map.of("Version", "<1>"), out);
        return out.toString();
    }

    /** The TTFT is ten times the first setting and the second; what is the same in all rows is not drawn. */
    @Test
    void twoSettings_areAMap() throws IOException {
        var data = data(square(3));

        assertThat(data.at("/maps/corner").asText()).isEqualTo("prefill down, decode across");
        assertThat(data.at("/maps/figures").findValuesAsText("title"))
                .contains("mean TTFT, ms")
                .doesNotContain("completed");
        assertThat(data.at("/maps/figures/0/numbers"))
                .hasToString("[[11.0,12.0,13.0],[21.0,22.0,23.0],[31.0,32.0,33.0]]");
        assertThat(data.at("/lines/figures/0/series/0/ys")).hasToString("[11,21,31]");
        assertThat(data.at("/front/names")).isNotEmpty();
    }

    @Test
    void fewValues_areNoPicture() throws IOException {
        assertThat(data(square(2)).has("maps")).isFalse();
        assertThat(data(square(2)).has("lines")).isFalse();
    }

    @Test
    void search_hasBarsOfWhatItFound() throws IOException {
        var rows = List.of(
                row(Map.of("rate", "12"), 1, Optional.of(SweepRow.Border.FOUND)),
                row(Map.of("rate", "1"), 2, Optional.of(SweepRow.Border.NOWHERE)));

        var data = data(rows);
        assertThat(data.at("/found/0/title").asText()).isEqualTo("rate that keeps the service level");
        assertThat(data.at("/found/0/series/0/ys")).hasToString("[12,0]");
        assertThat(data.at("/verdicts/1/good").asBoolean()).isFalse();
        assertThat(data.at("/verdicts/1/text").asText()).startsWith("x.conf rate=1:");
    }

    /** 0.9 is the least money, and misses the level. */
    @Test
    void cheapestThatKeepsTheLevel_isNamed() throws IOException {
        var rows = List.of(
                priced("a100", "1", 1.4, true), priced("l40s", "2", 0.9, false), priced("h100", "1", 1.1, true));

        String line = "The cheapest that keeps the service level: gpu=h100 prefill.replicas=1, at 1.10 per million";
        assertThat(SweepColumns.of(rows, List.of()).table(rows)).contains(line);
        assertThat(data(rows).at("/verdicts/0/text").asText()).startsWith(line);
    }

    private static SweepRow priced(String gpu, String replicas, double cost, boolean isGood) {
        var figures = new ObjectMapper().createObjectNode();
        figures.putObject("fleet").put("cost_per_million_output_tokens", cost);
        var settings = new LinkedHashMap<String, String>();
        settings.put("latency.gpu", gpu);
        settings.put("groups.prefill.replicas", replicas);
        settings.put("groups.decode.replicas", "1");
        var run = new PointResult("x", Optional.of(isGood), false, figures);
        return new SweepRow(new SweepPoint("x.conf", settings), List.of(run), List.of(), Optional.empty());
    }

    @Test
    void facts_areInTheirOrder() throws IOException {
        assertThat(data(square(2)).at("/facts")).hasToString("[[\"Version\",\"<1>\"]]");
        assertThat(page(square(2))).doesNotContain("<1>");
    }
}
