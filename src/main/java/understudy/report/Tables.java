package understudy.report;

import com.github.freva.asciitable.AsciiTable;
import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.ColumnData;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** The look of all tables on the console: words to the left, numbers to the right. */
public final class Tables {
    private Tables() {}

    public static <T> ColumnData<T> words(String header, Function<T, String> value) {
        return new Column()
                .header(header)
                .headerAlign(HorizontalAlign.LEFT)
                .dataAlign(HorizontalAlign.LEFT)
                .with(value);
    }

    /** Returns a column of numbers as {@code value} writes them. */
    public static <T> ColumnData<T> numbers(String header, Function<T, String> value) {
        return new Column()
                .header(header)
                .headerAlign(HorizontalAlign.RIGHT)
                .dataAlign(HorizontalAlign.RIGHT)
                .with(value);
    }

    public static <T> ColumnData<T> counts(String header, ToLongFunction<T> value) {
        return numbers(header, row -> String.valueOf(value.applyAsLong(row)));
    }

    /** Returns a column of numbers in a format such as {@code %.2f}. */
    public static <T> ColumnData<T> decimals(String header, String format, ToDoubleFunction<T> value) {
        return numbers(header, row -> String.format(Locale.ROOT, format, value.applyAsDouble(row)));
    }

    /** Returns a table without a line break at its end. */
    public static <T> String text(Collection<T> rows, List<ColumnData<T>> columns) {
        return AsciiTable.builder()
                .border(AsciiTable.BASIC_ASCII_NO_DATA_SEPARATORS)
                .data(rows, columns)
                .asString();
    }
}
