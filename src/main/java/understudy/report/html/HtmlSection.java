package understudy.report.html;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Section of a page, in the order in which its parts are added. All texts are plain. */
public final class HtmlSection {
    private final StringBuilder html = new StringBuilder();
    private final List<HtmlChart> charts = new ArrayList<>();

    /** @param id unique in its page */
    public HtmlSection(String id, String title) {
        html.append("<section id=\"")
                .append(id)
                .append("\" aria-labelledby=\"")
                .append(id)
                .append("-title\">\n<h2 id=\"")
                .append(id)
                .append("-title\">")
                .append(HtmlDocument.escaped(title))
                .append("</h2>\n");
    }

    public HtmlSection paragraph(String text) {
        html.append("<p>").append(HtmlDocument.escaped(text)).append("</p>\n");
        return this;
    }

    public HtmlSection list(List<String> lines) {
        html.append("<ul>\n");
        lines.forEach(
                line -> html.append("<li>").append(HtmlDocument.escaped(line)).append("</li>\n"));
        html.append("</ul>\n");
        return this;
    }

    /** Adds a text of fixed width that is closed at first. */
    public HtmlSection details(String summary, String text) {
        html.append("<details><summary>")
                .append(HtmlDocument.escaped(summary))
                .append("</summary><pre>")
                .append(HtmlDocument.escaped(text))
                .append("</pre></details>\n");
        return this;
    }

    /** Adds a table with columns as the console has them; the caption may be empty. */
    public <T> HtmlSection table(String caption, Collection<T> rows, List<ColumnData<T>> columns) {
        html.append(HtmlTable.of(caption, rows, columns));
        return this;
    }

    /**
     * Adds a table of numbers whose cells are the darker the higher they are.
     *
     * @param cells text of each cell, by row
     * @param numbers number of each cell; not a number leaves it plain
     */
    public HtmlSection map(
            String caption,
            String corner,
            List<String> rows,
            List<String> columns,
            List<List<String>> cells,
            List<double[]> numbers) {
        html.append(HtmlMap.of(caption, corner, rows, columns, cells, numbers));
        return this;
    }

    /** Adds charts, side by side where there is room. */
    public HtmlSection charts(HtmlChart... some) {
        html.append("<div class=\"charts\">\n");
        for (var chart : some) {
            html.append(chart.html());
            charts.add(chart);
        }
        html.append("</div>\n");
        return this;
    }

    String html() {
        return html + "</section>\n";
    }

    List<HtmlChart> charts() {
        return charts;
    }
}
