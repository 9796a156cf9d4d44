package understudy.report.html;

import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import understudy.json.Jackson;

/** Page with a title, a verdict, a few facts, and sections. All texts are plain. */
public final class HtmlPage {
    private final String title;
    private final StringBuilder verdict = new StringBuilder();
    private final StringBuilder facts = new StringBuilder();
    private final List<HtmlSection> sections = new ArrayList<>();

    /** How the page looks upon what it has to say first. */
    public enum Verdict {
        GOOD("good"),
        BAD("bad"),
        NONE("none");

        private final String word;

        Verdict(String word) {
            this.word = word;
        }
    }

    public HtmlPage(String title) {
        this.title = title;
    }

    /** Adds a line to what the page says first. */
    public HtmlPage verdict(Verdict kind, String text) {
        verdict.append("<p class=\"verdict ")
                .append(kind.word)
                .append("\">")
                .append(HtmlDocument.escaped(text))
                .append("</p>\n");
        return this;
    }

    /** Adds a fact to the head of the page. */
    public HtmlPage fact(String name, String value) {
        facts.append("<div><dt>")
                .append(HtmlDocument.escaped(name))
                .append("</dt><dd>")
                .append(HtmlDocument.escaped(value))
                .append("</dd></div>\n");
        return this;
    }

    public HtmlPage section(HtmlSection section) {
        sections.add(section);
        return this;
    }

    /** Writes the page; the caller closes {@code out}. */
    public void write(Writer out) throws IOException {
        String body = "<header>\n<h1>" + HtmlDocument.escaped(title) + "</h1>\n" + verdict + "<dl>\n" + facts
                + "</dl>\n</header>\n<main>\n"
                + sections.stream().map(HtmlSection::html).collect(Collectors.joining())
                + "</main>\n";
        new HtmlDocument(title, "", body, data(), HtmlDocument.resource("understudy/report/html/charts.js")).write(out);
    }

    private String data() throws IOException {
        var text = new StringWriter();
        try (var json = Jackson.FACTORY.createGenerator(text)) {
            json.writeStartObject();
            json.writeArrayFieldStart("charts");
            for (var section : sections) {
                for (var chart : section.charts()) {
                    chart.writeTo(json);
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        return text.toString();
    }
}
