package understudy.workload.trace;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import understudy.settings.Numbers;
import understudy.workload.files.TraceException;
import understudy.workload.files.TraceFile;

/** A CSV file with a header line, read row by row; its errors are reported with file and line. */
public final class CsvTable implements Closeable {
    private static final Pattern WHOLE_NUMBER = Pattern.compile("-?[0-9]+");
    private static final Pattern PLACE = Pattern.compile(" ?\\(record starting at line (\\d+)\\)");
    private static final Pattern NUMBER = Pattern.compile("[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?");

    /** As with other lines. */
    private static final int MAX_FIELD_CHARS = ByteLines.MAX_LINE_BYTES;

    private final String file;
    private final CsvReader<NamedCsvRecord> reader;
    private final Iterator<NamedCsvRecord> rows;
    private @Nullable NamedCsvRecord row;

    /** Opens a file, gzip'd or not. */
    public CsvTable(Path path) {
        file = path.toString();
        reader = CsvReader.builder()
                .detectBomHeader(true)
                .maxBufferSize(MAX_FIELD_CHARS)
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .ofNamedCsvRecord(TraceFile.open(path), StandardCharsets.UTF_8);
        rows = reader.iterator();
    }

    /** Goes to the next row, and returns whether there is one. */
    public boolean next(List<String> requiredColumns) {
        try {
            if (!rows.hasNext()) {
                return false;
            }
            boolean isFirst = row == null;
            row = rows.next();
            if (isFirst) {
                requireColumns(requiredColumns);
            }
            requireFields();
            return true;
        } catch (CsvParseException | UncheckedIOException e) {
            throw notCsv(String.valueOf(e.getMessage()));
        }
    }

    /** The library has the line, but not in front. */
    private TraceException notCsv(String message) {
        var place = PLACE.matcher(message);
        if (!place.find()) {
            return new TraceException(file, "not CSV: " + message);
        }
        boolean isTooLong = message.startsWith("The maximum ");
        String problem = isTooLong
                ? "a line or field is longer than " + MAX_FIELD_CHARS + " characters; a quote may not be closed"
                : message.replace(place.group(), "");
        return new TraceException(file, Long.parseLong(place.group(1)), "not CSV: " + problem);
    }

    /** Returns where the row stands in its file, from 1. */
    public long line() {
        return current().getStartingLineNumber();
    }

    /** Returns the text of a column, or an empty one if the file has no such column. */
    public String text(String column) {
        return current().findField(column).orElse("").strip();
    }

    /** Returns the whole number of a column. */
    public int wholeNumber(String column, int min) {
        String text = text(column);
        if (WHOLE_NUMBER.matcher(text).matches()) {
            long number = Numbers.parseWhole(text).orElse(Long.MAX_VALUE);
            if (number > Integer.MAX_VALUE) {
                throw unusable(column, text, "at most " + Integer.MAX_VALUE);
            }
            if (number >= min) {
                return (int) number;
            }
        }
        throw unusable(column, text, "a whole number of at least " + min);
    }

    /** Returns the seconds of a column, at least 0. */
    public double seconds(String column) {
        String text = text(column);
        double seconds = NUMBER.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
        if (!(seconds >= 0 && seconds <= 1e9)) {
            throw unusable(column, text, "seconds from 0 to 1e9");
        }
        return seconds;
    }

    /** Returns the number of a column, which is above 0. */
    public double positive(String column) {
        String text = text(column);
        double number = Numbers.parse(text);
        if (!(number > 0 && number < Double.POSITIVE_INFINITY)) {
            throw unusable(column, text, "a number above 0");
        }
        return number;
    }

    /** Returns the exception for a value that cannot be used. */
    public TraceException unusable(String column, String text, String allowed) {
        return problem(
                text.isEmpty()
                        ? column + " is missing, must be " + allowed
                        : column + " is " + text + ", must be " + allowed);
    }

    /** Returns the exception for a row that cannot be used. */
    public TraceException problem(String what) {
        return new TraceException(file, line(), what);
    }

    @Override
    public void close() {
        try {
            reader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private NamedCsvRecord current() {
        if (row == null) {
            throw new IllegalStateException("no row yet");
        }
        return row;
    }

    /** The library would do that too, but without the line. */
    private void requireFields() {
        int numColumns = current().getHeader().size();
        if (current().getFieldCount() != numColumns) {
            throw problem("has " + current().getFieldCount() + " fields, but the header has " + numColumns);
        }
    }

    private void requireColumns(List<String> required) {
        var header = current().getHeader();
        for (String column : required) {
            if (!header.contains(column)) {
                throw new TraceException(
                        file, 1, "no column " + column + "; the header has " + String.join(", ", header));
            }
        }
    }
}
