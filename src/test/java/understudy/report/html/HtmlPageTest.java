package understudy.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.report.Tables;

final class HtmlPageTest {
    private static final String EVIL = "</script><b>\"{{style}}";
    private static final HtmlChart.Axis AXIS = new HtmlChart.Axis(EVIL, "ms");

    private final HtmlPage page = new HtmlPage("A page");

    @Test
    void texts_areEscaped() throws IOException {
        page.verdict(HtmlPage.Verdict.BAD, EVIL).fact(EVIL, EVIL);
        page.section(new HtmlSection("all", EVIL)
                .paragraph(EVIL)
                .list(List.of(EVIL))
                .details(EVIL, EVIL)
                .table(EVIL, List.of(EVIL), List.of(Tables.words(EVIL, text -> text), Tables.words("", text -> text)))
                .charts(HtmlChart.lines(
                        "chart", EVIL, AXIS, AXIS, List.of(HtmlSeries.bars(EVIL, "accent", new double[0])))));

        assertThat(written()).doesNotContain("<b>");
        // Twice verdict and fact's value, and so on; never as it is.
        assertThat(written())
                .contains("&lt;/script&gt;&lt;b&gt;&quot;{{style}}")
                .contains("\\u003c/script>\\u003cb>");
    }

    @Test
    void numbers_areRounded_andGapsAreNull() throws IOException {
        double[] xs = {1.23456789012, 2};
        double[] ys = {1.23456789012, Double.NaN};
        page.section(new HtmlSection("all", "All")
                .charts(HtmlChart.lines(
                        "chart", "Chart", AXIS, AXIS, List.of(HtmlSeries.line("a", "accent", xs, ys)))));

        assertThat(written()).contains("\"xs\":[1.23456789,2],\"ys\":[1.2346,null],\"ends\":[]");
    }

    @Test
    void equalPages_areEqualBytes() throws IOException {
        assertThat(written()).isEqualTo(written()).startsWith("<!DOCTYPE html>").endsWith("</html>\n");
    }

    private String written() throws IOException {
        var out = new StringWriter();
        page.write(out);
        return out.toString();
    }
}
