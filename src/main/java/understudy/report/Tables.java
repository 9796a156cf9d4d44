package understudy.report;

import com.github.freva.asciitable.AsciiTable;
import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.Collection;
import java.util.List;

/** The look of all tables on the console: words to the left, numbers to the right. */
public final class Tables {
    private Tables() {}

    public static Column words(String header) {
        return new Column().header(header).headerAlign(HorizontalAlign.LEFT).dataAlign(HorizontalAlign.LEFT);
    }

    public static Column number(String header) {
        return new Column().header(header).headerAlign(HorizontalAlign.RIGHT).dataAlign(HorizontalAlign.RIGHT);
    }

    /** Returns a table without a line break at its end. */
    public static <T> String text(Collection<T> rows, List<ColumnData<T>> columns) {
        return AsciiTable.builder()
                .border(AsciiTable.BASIC_ASCII_NO_DATA_SEPARATORS)
                .data(rows, columns)
                .asString();
    }
}
