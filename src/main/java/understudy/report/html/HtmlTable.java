package understudy.report.html;

import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The look of tables in pages: columns are those of the console, words to the left and numbers to the right. */
final class HtmlTable {
    private HtmlTable() {}

    static <T> String of(String caption, Collection<T> rows, List<ColumnData<T>> columns) {
        var html = new StringBuilder("<div class=\"wide\"><table>\n");
        if (!caption.isEmpty()) {
            html.append("<caption>").append(HtmlDocument.escaped(caption)).append("</caption>\n");
        }
        html.append("<thead><tr>");
        columns.forEach(column -> html.append("<th scope=\"col\"")
                .append(align(column))
                .append(text(column.getHeader()))
                .append("</th>"));
        html.append("</tr></thead>\n<tbody>\n");
        rows.forEach(row -> html.append(row(row, columns)));
        return html.append("</tbody></table></div>\n").toString();
    }

    private static <T> String row(T row, List<ColumnData<T>> columns) {
        var html = new StringBuilder("<tr>");
        for (int i = 0; i < columns.size(); i++) {
            String cell = i == 0 ? "th" : "td";
            html.append('<')
                    .append(cell)
                    .append(i == 0 ? " scope=\"row\"" : "")
                    .append(align(columns.get(i)))
                    .append(text(columns.get(i).getCellValue(row)))
                    .append("</")
                    .append(cell)
                    .append('>');
        }
        return html.append("</tr>\n").toString();
    }

    private static String text(@Nullable String cell) {
        return cell == null ? "" : HtmlDocument.escaped(cell);
    }

    private static String align(ColumnData<?> column) {
        return column.getDataAlign() == HorizontalAlign.LEFT ? " class=\"words\">" : ">";
    }
}
