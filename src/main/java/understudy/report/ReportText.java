package understudy.report;

import com.github.freva.asciitable.ColumnData;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Text of a report: headings and lines as {@code vllm bench serve} has them, and tables. */
public final class ReportText implements ReportSink {
    private static final int WIDTH = 50;

    private final StringBuilder text = new StringBuilder();

    @Override
    public void heading(String title, char fill) {
        int left = (WIDTH - title.length()) / 2;
        int right = WIDTH - title.length() - left;
        String rule = String.valueOf(fill);
        text.append(rule.repeat(left)).append(title).append(rule.repeat(right)).append('\n');
    }

    @Override
    public void line(String label, String value) {
        text.append(String.format(Locale.ROOT, "%-40s %-10s\n", label, value));
    }

    @Override
    public void end() {
        text.append("=".repeat(WIDTH)).append("\n\n");
    }

    @Override
    public <T> void table(Collection<T> rows, List<ColumnData<T>> columns) {
        text.append(Tables.text(rows, columns)).append('\n');
    }

    @Override
    public void append(String words) {
        text.append(words);
    }

    static String decimal(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    /** Returns a share in percent, or a dash if there is nothing to share. */
    static String percent(double part, double whole) {
        return whole == 0 ? "-" : decimal(part / whole * 100);
    }

    static String percent(long part, long whole) {
        return percent((double) part, (double) whole);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
