package understudy.report.run;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import understudy.report.ReportSink;
import understudy.report.Result;
import understudy.report.Tables;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;

/** All figures of a result, in two sections: lines under headings, and tables. */
final class FiguresSection implements ReportSink {
    private record Line(String label, String value) {}

    private final HtmlSection figures = new HtmlSection("figures", "Figures");
    private final HtmlSection tables = new HtmlSection("tables", "Replicas and memories");
    private final List<Line> lines = new ArrayList<>();
    private String title = "";

    private FiguresSection() {}

    static void add(Result result, HtmlPage page) {
        var sections = new FiguresSection();
        result.showIn(sections);
        page.section(sections.figures).section(sections.tables);
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
        tables.table("", rows, columns);
    }

    @Override
    public void append(String words) {
        tables.paragraph(words.strip());
    }
}
