package understudy.report.html;

import com.fasterxml.jackson.core.JsonGenerator;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Optional;

/**
 * Chart as data.
 *
 * @param id unique in its page
 * @param labels of the bars or lanes; none of a line chart
 */
public record HtmlChart(
        String id, String title, Kind kind, Axis x, Axis y, List<HtmlSeries> series, List<String> labels) {
    private static final MathContext OF_X = new MathContext(9);
    private static final MathContext OF_Y = new MathContext(5);
    private static final int LANE_PIXELS = 9;
    private static final int MIN_PIXELS = 240;

    /** Kind of a chart, by the name that the script knows. */
    public enum Kind {
        LINE("line"),
        /** Line over a logarithmic axis. */
        LOG_LINE("log-line"),
        /** Points over two logarithmic axes, and the line on which both are equal. */
        POINTS("points"),
        /** Bar for each label, side by side for several series. */
        BARS("bars"),
        /** Rows, one for each label, with bars from one time to another. */
        LANES("lanes");

        private final String word;

        Kind(String word) {
            this.word = word;
        }
    }

    /**
     * Axis of a chart.
     *
     * @param unit of its values, for people, such as {@code ms} or {@code %}; empty for plain numbers
     */
    public record Axis(String title, String unit) {}

    /** Returns a chart of lines. */
    public static HtmlChart lines(String id, String title, Axis x, Axis y, List<HtmlSeries> series) {
        return new HtmlChart(id, title, Kind.LINE, x, y, series, List.of());
    }

    /** Returns the chart without the series that never change; nothing if none is left. */
    public Optional<HtmlChart> changing() {
        var left = series.stream().filter(each -> !each.isConstant()).toList();
        return left.isEmpty() ? Optional.empty() : Optional.of(new HtmlChart(id, title, kind, x, y, left, labels));
    }

    /** Returns the place for the chart, which the script fills. */
    String html() {
        int pixels = kind == Kind.LANES ? Math.max(MIN_PIXELS, 90 + LANE_PIXELS * labels.size()) : MIN_PIXELS;
        return "<figure class=\"chart\"><figcaption>" + HtmlDocument.escaped(title)
                + "</figcaption><div style=\"height:" + pixels + "px\"><canvas id=\"" + id
                + "\" role=\"img\" aria-label=\"" + HtmlDocument.escaped(title) + "\"></canvas></div></figure>\n";
    }

    void writeTo(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("id", id);
        json.writeStringField("kind", kind.word);
        write("x", x, json);
        write("y", y, json);
        json.writeArrayFieldStart("labels");
        for (String label : labels) {
            json.writeString(label);
        }
        json.writeEndArray();
        json.writeArrayFieldStart("series");
        for (var each : series) {
            write(each, json);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void write(String name, Axis axis, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart(name);
        json.writeStringField("title", axis.title);
        json.writeStringField("unit", axis.unit);
        json.writeEndObject();
    }

    private static void write(HtmlSeries series, JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", series.name());
        json.writeStringField("color", series.color());
        write("xs", series.xs(), OF_X, json);
        write("ys", series.ys(), OF_Y, json);
        write("ends", series.ends(), OF_X, json);
        json.writeEndObject();
    }

    private static void write(String name, DoubleList values, MathContext digits, JsonGenerator json)
            throws IOException {
        json.writeArrayFieldStart(name);
        for (int i = 0; i < values.size(); i++) {
            double value = values.getDouble(i);
            if (Double.isFinite(value)) {
                json.writeNumber(new BigDecimal(value).round(digits).stripTrailingZeros());
            } else {
                json.writeNull();
            }
        }
        json.writeEndArray();
    }
}
