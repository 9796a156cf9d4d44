package understudy.report;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a result, each named once: its key for programs, its title and unit for people, and its value. A value is a
 * number, a text, a boolean, nothing, further figures, or a list of these. The order is that of JSON.
 */
public final class Figures {
    private final Map<String, Figure> byKey = new LinkedHashMap<>();

    /**
     * One figure.
     *
     * @param title for people; empty if they do not see it
     * @param isInJson whether programs see it; figures that follow from others are for people alone
     */
    private record Figure(String title, Unit unit, @Nullable Object value, boolean isInJson) {}

    /** Value that is JSON already. */
    private record Json(String text) {}

    /** Reads single figures. */
    public interface Reader {

        /**
         * Reads one.
         *
         * @param value for people, without its unit
         * @param unit empty if it has none
         */
        void read(String key, String value, String unit);
    }

    /** Line for people. */
    record Line(String label, String text) {}

    /** Adds a figure that people do not see. */
    public Figures add(String key, @Nullable Object value) {
        return add(key, "", Unit.NONE, value);
    }

    /** Adds a figure that people see if it is a number and has a title. */
    public Figures add(String key, String title, Unit unit, @Nullable Object value) {
        byKey.put(key, new Figure(title, unit, value, true));
        return this;
    }

    /** Adds a figure that follows from others, so that programs do not see it. */
    public Figures addForPeople(String key, String title, Unit unit, Number value) {
        byKey.put(key, new Figure(title, unit, value, false));
        return this;
    }

    /** Adds a figure that is JSON already. */
    public Figures addJson(String key, String json) {
        return add(key, new Json(json));
    }

    /** Adds an object, and returns its figures, still to be added. */
    public Figures addObject(String key) {
        var figures = new Figures();
        add(key, figures);
        return figures;
    }

    /** Adds an object that programs do not see, and returns its figures, still to be added. */
    public Figures addObjectForPeople(String key) {
        var figures = new Figures();
        byKey.put(key, new Figure("", Unit.NONE, figures, false));
        return figures;
    }

    /** Adds a list, one value for each index, which is made when it is written. */
    public Figures addList(String key, int size, IntFunction<@Nullable Object> value) {
        return add(key, new AbstractList<@Nullable Object>() {
            @Override
            public @Nullable Object get(int index) {
                return value.apply(index);
            }

            @Override
            public int size() {
                return size;
            }
        });
    }

    /**
     * Returns the lines for people of some figures.
     *
     * @param keys with a dot between those of an object and its figures; an object stands for all its figures
     */
    List<Line> lines(List<String> keys) {
        var lines = new ArrayList<Line>();
        for (String key : keys) {
            int dot = key.indexOf('.');
            var figure = byKey.get(dot < 0 || byKey.containsKey(key) ? key : key.substring(0, dot));
            if (figure == null) {
                continue;
            }
            if (figure.value instanceof Figures object) {
                lines.addAll(dot < 0 ? object.lines() : object.lines(List.of(key.substring(dot + 1))));
            } else if (!figure.title.isEmpty() && figure.value instanceof Number number) {
                lines.add(new Line(figure.unit.label(figure.title), figure.unit.text(number)));
            }
        }
        return lines;
    }

    private List<Line> lines() {
        return lines(List.copyOf(byKey.keySet()));
    }

    /** Passes on each figure that programs see, but for lists; keys of objects have a dot before those in them. */
    public void forEach(Reader reader) {
        forEach("", reader);
    }

    private void forEach(String prefix, Reader reader) {
        byKey.forEach((key, figure) -> {
            if (!figure.isInJson) {
                return;
            }
            if (figure.value instanceof Figures object) {
                object.forEach(prefix + key + ".", reader);
            } else if (figure.value instanceof Number number) {
                reader.read(prefix + key, figure.unit.text(number), figure.unit.symbol());
            } else if (figure.value instanceof String || figure.value instanceof Boolean) {
                reader.read(prefix + key, figure.value.toString(), "");
            }
        });
    }

    /** Writes all figures as an object. */
    public void writeTo(JsonGenerator json) throws IOException {
        json.writeStartObject();
        for (var entry : byKey.entrySet()) {
            if (entry.getValue().isInJson) {
                json.writeFieldName(entry.getKey());
                write(entry.getValue().value, json);
            }
        }
        json.writeEndObject();
    }

    private static void write(@Nullable Object value, JsonGenerator json) throws IOException {
        if (value instanceof Figures figures) {
            figures.writeTo(json);
        } else if (value instanceof Json raw) {
            json.writeRawValue(raw.text);
        } else if (value instanceof Collection<?> list) {
            json.writeStartArray();
            for (Object each : list) {
                write(each, json);
            }
            json.writeEndArray();
        } else if (value instanceof Double number) {
            json.writeNumber(number);
        } else if (value instanceof BigDecimal number) {
            json.writeNumber(number);
        } else if (value instanceof Number number) {
            json.writeNumber(number.longValue());
        } else if (value instanceof Boolean truth) {
            json.writeBoolean(truth);
        } else if (value == null) {
            json.writeNull();
        } else {
            json.writeString(value.toString());
        }
    }
}
