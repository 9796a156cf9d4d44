package understudy.report.html;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.commons.text.StringEscapeUtils;
import understudy.json.Jackson;
import understudy.report.Figures;

/**
 * Page of one file: an HTML file of the class path, which says what is where, the JSON that it shows, and a script for each
 * kind of section. It loads nothing, and tells the browser so. Without scripts it has its main figures in a table.
 *
 * @param title in plain text
 * @param layout path of the HTML file
 * @param data which the sections name by the paths of its keys
 * @param main figures of the table
 */
public record Page(String title, String layout, Figures data, Figures main) {
    /** Place of Chart.js on the class path. */
    public static final String CHART_JS = "META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js";

    private static final String FILES = "understudy/report/html/";

    /** Scripts in the order of their loading: the shared ones come first, and the one that shows the page last. */
    private static final List<String> SCRIPTS = List.of(
            "page", "table", "figures", "map", "charts", "lines", "bars", "points", "lanes", "hit-rates", "show");

    private static final Pattern SOURCE_MAP = Pattern.compile("//# sourceMappingURL=.*");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{([a-z-]+)}}");

    /** Returns facts about a page, by name, as the pairs that a list of facts shows. */
    public static List<List<String>> pairs(Map<String, String> facts) {
        return facts.entrySet().stream()
                .map(fact -> List.of(fact.getKey(), fact.getValue()))
                .toList();
    }

    /** Writes the page; the caller closes {@code out}. */
    public void write(Writer out) throws IOException {
        var parts = Map.of(
                "title",
                escaped(title),
                "style",
                resource(FILES + "page.css"),
                "noscript",
                table(),
                "page",
                resource(layout),
                "data",
                json(),
                "chart-js",
                SOURCE_MAP.matcher(resource(CHART_JS)).replaceAll(""),
                "script",
                SCRIPTS.stream().map(name -> resource(FILES + name + ".js")).collect(Collectors.joining()));
        out.write(PLACEHOLDER
                .matcher(resource(FILES + "page.html"))
                .replaceAll(match -> Matcher.quoteReplacement(parts.get(match.group(1)))));
    }

    /** A script element has no escapes but those of its own language, so that nothing in it may look like HTML. */
    private String json() throws IOException {
        var text = new StringWriter();
        try (var json = Jackson.FACTORY.createGenerator(text)) {
            data.writeTo(json);
        }
        return text.toString().replace("<", "\\u003c");
    }

    private String table() {
        var html = new StringBuilder("<h1>" + escaped(title) + "</h1>\n<table>\n");
        main.forEach((key, value, unit) -> html.append("<tr><th>")
                .append(escaped(key))
                .append("</th><td>")
                .append(escaped(value))
                .append("</td><td>")
                .append(unit)
                .append("</td></tr>\n"));
        return html + "</table>\n";
    }

    private static String resource(String path) {
        try (InputStream in = Page.class.getResourceAsStream("/" + path)) {
            if (in == null) {
                throw new IllegalStateException("not in the jar: " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String escaped(String text) {
        return StringEscapeUtils.escapeHtml4(text);
    }
}
