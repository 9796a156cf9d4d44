package understudy.evidence;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** Figures that others have published, as comma-separated values, and cells of tables that compare them. */
final class PublishedFigures {
    private PublishedFigures() {}

    /** Returns the rows of a file in the resources, without its head. */
    static List<String[]> rows(String name) throws IOException {
        var file = Objects.requireNonNull(
                PublishedFigures.class.getResourceAsStream("/understudy/published/" + name), name);
        try (var lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            return lines.lines().skip(1).map(line -> line.split(",", -1)).toList();
        }
    }

    /** Returns three cells: an emulated figure, the published one, which may be NaN for none, and the error of the first. */
    static String cells(String format, double emulated, double published) {
        if (Double.isNaN(published)) {
            return String.format(Locale.ROOT, format + " | | ", emulated);
        }
        return String.format(
                Locale.ROOT,
                format + " | " + format + " | %+.0f %%",
                emulated,
                published,
                100 * (emulated / published - 1));
    }
}
