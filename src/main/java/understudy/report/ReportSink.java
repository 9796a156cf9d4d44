package understudy.report;

import com.github.freva.asciitable.ColumnData;
import java.util.Collection;
import java.util.List;

/** Sink of a report's content: lines under headings, then tables; the sink decides on their look. */
public interface ReportSink {

    /** Begins a block of lines; the console draws the rule of the heading with {@code fill}. */
    void heading(String title, char fill);

    void line(String label, String value);

    default void line(String label, long value) {
        line(label, String.valueOf(value));
    }

    default void line(String label, double value) {
        line(label, ReportText.decimal(value));
    }

    /** Ends the last block. */
    void end();

    <T> void table(Collection<T> rows, List<ColumnData<T>> columns);

    /** Adds words, with a line break at their end. */
    void append(String words);
}
