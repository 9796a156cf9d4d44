package understudy.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.report.Figures;
import understudy.report.Unit;

final class PageTest {
    /** Ends a script, opens a comment, begins an element, and is a place of the template. */
    private static final String EVIL = "</script><!--<b onclick='x'>\"{{style}}\u2028";

    private static final String BEGIN = "<script type=\"application/json\" id=\"data\">";

    @Test
    void hostileTexts_stayTexts() throws IOException {
        String page = written(EVIL, new Figures().add(EVIL, EVIL).add("list", List.of(EVIL)));

        assertThat(page).doesNotContain("<b onclick").doesNotContain("</script><!--");
        assertThat(page).contains("<title>&lt;/script&gt;&lt;!--&lt;b onclick='x'&gt;&quot;{{style}}");
        var data = data(page);
        assertThat(data.get(EVIL).asText()).isEqualTo(EVIL);
        assertThat(data.get("list").get(0).asText()).isEqualTo(EVIL);
    }

    @Test
    void jsonThatIsWrittenAlready_isMadeHarmless() throws IOException {
        String page = written("A page", new Figures().addJson("result", "{\"name\": \"</script><!--\"}"));

        assertThat(data(page).at("/result/name").asText()).isEqualTo("</script><!--");
    }

    /** 0.125 is 12.5 %. */
    @Test
    void withoutScripts_figuresAreATable() throws IOException {
        var figures = new Figures().add("share", "Share", Unit.SHARE, 0.125).add("list", List.of(1, 2));
        figures.addObject("deep").add(EVIL, "", Unit.TOKENS, 7);

        assertThat(written("A page", figures))
                .contains("<tr><th>share</th><td>12.50</td><td>%</td></tr>")
                .containsPattern("<tr><th>deep\\.&lt;/script&gt;[^<]*</th><td>7</td><td>tokens</td></tr>")
                .doesNotContain("<th>list");
    }

    @Test
    void page_loadsNothing_andIsAlwaysTheSame() throws IOException {
        String page = written("A page", new Figures());

        assertThat(page)
                .contains("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
                .contains("Chart.js v4")
                .doesNotContain("sourceMappingURL")
                .startsWith("<!DOCTYPE html>")
                .endsWith("</html>\n")
                .isEqualTo(written("A page", new Figures()));
    }

    private static JsonNode data(String page) throws IOException {
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        return new ObjectMapper().readTree(page.substring(begin, page.indexOf("</script>", begin)));
    }

    private static String written(String title, Figures figures) throws IOException {
        var out = new StringWriter();
        new Page(title, "understudy/sweep/sweep.html", figures, figures).write(out);
        return out.toString();
    }
}
