package understudy.report.html;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.text.StringEscapeUtils;

/**
 * Document of one file, with style, data, Chart.js and the script that draws the data. It loads nothing, and tells the
 * browser so.
 *
 * @param title in plain text
 * @param style further style sheet, behind the one that all pages have
 * @param body in HTML
 * @param data in JSON, in the element {@code data}
 * @param script that reads it
 */
public record HtmlDocument(String title, String style, String body, String data, String script) {
    /** Place of Chart.js on the class path. */
    public static final String CHART_JS = "META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js";

    private static final String FILES = "understudy/report/html/";
    private static final Pattern SOURCE_MAP = Pattern.compile("//# sourceMappingURL=.*");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{([a-z-]+)}}");

    /** Writes the document; the caller closes {@code out}. */
    public void write(Writer out) throws IOException {
        out.write(fill(
                resource(FILES + "page.html"),
                Map.of(
                        "title",
                        escaped(title),
                        "style",
                        resource(FILES + "page.css") + style,
                        "body",
                        body,
                        // To HTML a script element has no escapes but those of its own language.
                        "data",
                        data.replace("<", "\\u003c"),
                        "chart-js",
                        SOURCE_MAP.matcher(resource(CHART_JS)).replaceAll(""),
                        "script",
                        script)));
    }

    /** Returns a template with the parts that it names as <code>{{name}}</code>. */
    public static String fill(String template, Map<String, String> parts) {
        return PLACEHOLDER.matcher(template).replaceAll(match -> Matcher.quoteReplacement(parts.get(match.group(1))));
    }

    /** Returns a text file of the class path, which must be there. */
    public static String resource(String path) {
        try (InputStream in = HtmlDocument.class.getResourceAsStream("/" + path)) {
            if (in == null) {
                throw new IllegalStateException("not in the jar: " + path);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns plain text as HTML. */
    public static String escaped(String text) {
        return StringEscapeUtils.escapeHtml4(text);
    }
}
