package understudy.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import com.github.freva.asciitable.ColumnData;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import understudy.json.Jackson;

/**
 * Result of a run or of a benchmark: its {@linkplain Figures figures}, and how people read them: blocks of lines, as
 * {@code vllm bench serve} prints them, then tables and words.
 */
public final class Result {
    private final Figures figures;
    private final List<Consumer<ReportSink>> parts = new ArrayList<>();

    public Result(Figures figures) {
        this.figures = figures;
    }

    public Figures figures() {
        return figures;
    }

    /**
     * Adds a block of figures that people see.
     *
     * @param fill character of the rule that the console draws around the heading
     * @param keys of the figures, as {@link Figures#lines} takes them
     */
    public Result block(String title, char fill, String... keys) {
        return block(title, fill, List.of(keys));
    }

    public Result block(String title, char fill, List<String> keys) {
        var lines = figures.lines(keys);
        parts.add(sink -> {
            sink.heading(title, fill);
            lines.forEach(line -> sink.line(line.label(), line.text()));
        });
        return this;
    }

    /** Ends the last block. */
    public Result end() {
        parts.add(ReportSink::end);
        return this;
    }

    public <T> Result table(Collection<T> rows, List<ColumnData<T>> columns) {
        parts.add(sink -> sink.table(rows, columns));
        return this;
    }

    /** Adds words, with a line break at their end. */
    public Result words(String text) {
        parts.add(sink -> sink.append(text));
        return this;
    }

    /** Shows all to people. */
    public void showIn(ReportSink sink) {
        parts.forEach(part -> part.accept(sink));
    }

    /** Returns the text for people, with a line break at its end. */
    public String text() {
        var text = new ReportText();
        showIn(text);
        return text.toString();
    }

    /** Returns the figures as JSON in a line, with a line break at its end. */
    public String json() {
        return json(false);
    }

    /** Returns the figures as indented JSON, with a line break at its end. */
    public String indentedJson() {
        return json(true);
    }

    private String json(boolean isIndented) {
        var text = new StringWriter();
        try (var json = Jackson.FACTORY.createGenerator(text)) {
            if (isIndented) {
                json.useDefaultPrettyPrinter();
            }
            figures.writeTo(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text + "\n";
    }

    /** Returns the figures as a tree that others may change. */
    public ObjectNode tree() {
        try (var json = new TokenBuffer(Jackson.mapper(), false)) {
            figures.writeTo(json);
            return Jackson.mapper().readTree(json.asParser());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
