package understudy.report.html;

import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import understudy.report.Figures;
import understudy.report.ReportSink;
import understudy.report.Result;

/** Tables and lines of the console, as data of a page. */
public final class PageTables implements ReportSink {
    private final List<Block> blocks = new ArrayList<>();
    private final List<Object> parts = new ArrayList<>();

    private record Block(String title, List<List<String>> lines) {
        Figures figures() {
            return new Figures().add("title", title).add("lines", lines);
        }
    }

    private PageTables() {}

    /** Returns all that people read of a result: blocks of lines, and then tables and words. */
    public static Figures of(Result result) {
        var sink = new PageTables();
        result.showIn(sink);
        return new Figures()
                .add(
                        "blocks",
                        sink.blocks.stream()
                                .filter(block -> !block.lines.isEmpty())
                                .map(Block::figures)
                                .toList())
                .add("parts", sink.parts);
    }

    /** Returns a table; columns of words are to the left. */
    public static <T> Figures of(Collection<T> rows, List<ColumnData<T>> columns) {
        return new Figures()
                .add("columns", columns.stream().map(PageTables::column).toList())
                .add("rows", rows.stream().map(row -> cells(row, columns)).toList());
    }

    private static Figures column(ColumnData<?> column) {
        return new Figures()
                .add("title", column.getHeader())
                .add("words", column.getDataAlign() == HorizontalAlign.LEFT);
    }

    private static <T> List<String> cells(T row, List<ColumnData<T>> columns) {
        return columns.stream().map(column -> column.getCellValue(row)).toList();
    }

    @Override
    public void heading(String title, char fill) {
        blocks.add(new Block(title.strip(), new ArrayList<>()));
    }

    @Override
    public void line(String label, String value) {
        var lines = blocks.get(blocks.size() - 1).lines;
        lines.add(List.of(label.endsWith(":") ? label.substring(0, label.length() - 1) : label, value));
    }

    @Override
    public void end() {
        // A block ends where the next one begins.
    }

    @Override
    public <T> void table(Collection<T> rows, List<ColumnData<T>> columns) {
        parts.add(of(rows, columns));
    }

    @Override
    public void append(String words) {
        parts.add(words.strip());
    }
}
