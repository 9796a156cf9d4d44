package understudy.report.html;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import understudy.report.ReportSink;
import understudy.report.Result;
import understudy.report.Tables;

/** All that people read of a result, in two sections: lines under headings, and tables with words. */
public final class ResultSections implements ReportSink {
    private record Line(String label, String value) {}

    private final HtmlSection figures = new HtmlSection("figures", "Figures");
    private final HtmlSection tables;
    private final List<Line> lines = new ArrayList<>();
    private String title = "";
    private boolean hasTables;

    private ResultSections(String tablesTitle) {
        tables = new HtmlSection("tables", tablesTitle);
    }

    /**
     * Adds the sections to a page.
     *
     * @param tablesTitle heading of the second one, which is there if it has something in it
     */
    public static void add(Result result, String tablesTitle, HtmlPage page) {
        var sections = new ResultSections(tablesTitle);
        result.showIn(sections);
        page.section(sections.figures);
        if (sections.hasTables) {
            page.section(sections.tables);
        }
    }

    @Override
    public void heading(String newTitle, char fill) {
        end();
        title = newTitle.strip();
    }

    @Override
    public void line(String label, String value) {
        lines.add(new Line(label.endsWith(":") ? label.substring(0, label.length() - 1) : label, value));
    }

    @Override
    public void end() {
        if (!lines.isEmpty()) {
            figures.table("", lines, List.of(Tables.words(title, Line::label), Tables.numbers("", Line::value)));
        }
        lines.clear();
    }

    @Override
    public <T> void table(Collection<T> rows, List<ColumnData<T>> columns) {
        hasTables = true;
        tables.table("", rows, columns);
    }

    @Override
    public void append(String words) {
        hasTables = true;
        tables.paragraph(words.strip());
    }
}
