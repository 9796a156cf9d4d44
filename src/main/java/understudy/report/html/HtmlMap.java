package understudy.report.html;

import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** The look of a map: a table of numbers whose cells are the darker the higher they are. */
final class HtmlMap {
    private HtmlMap() {}

    static String of(
            String caption,
            String corner,
            List<String> rows,
            List<String> columns,
            List<List<String>> cells,
            List<double[]> numbers) {
        var html = new StringBuilder("<div class=\"wide\"><table class=\"map\">\n<caption>")
                .append(HtmlDocument.escaped(caption))
                .append("</caption>\n<thead><tr><th scope=\"col\">")
                .append(HtmlDocument.escaped(corner))
                .append("</th>");
        columns.forEach(column -> html.append("<th scope=\"col\">")
                .append(HtmlDocument.escaped(column))
                .append("</th>"));
        html.append("</tr></thead>\n<tbody>\n");
        var range = numbers.stream()
                .flatMapToDouble(DoubleStream::of)
                .filter(Double::isFinite)
                .summaryStatistics();
        double width = Math.max(range.getMax() - range.getMin(), Double.MIN_NORMAL);
        for (int i = 0; i < rows.size(); i++) {
            html.append("<tr><th scope=\"row\">")
                    .append(HtmlDocument.escaped(rows.get(i)))
                    .append("</th>");
            for (int j = 0; j < columns.size(); j++) {
                html.append(cell(cells.get(i).get(j), (numbers.get(i)[j] - range.getMin()) / width));
            }
            html.append("</tr>\n");
        }
        return html.append("</tbody></table></div>\n").toString();
    }

    /** @param share how dark, from 0 to 1 */
    private static String cell(String text, double share) {
        String style = Double.isFinite(share) ? String.format(Locale.ROOT, " style=\"--share:%.3f\"", share) : "";
        return "<td" + style + ">" + HtmlDocument.escaped(text) + "</td>";
    }
}
