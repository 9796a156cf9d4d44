package understudy.conform;

import com.fasterxml.jackson.databind.JsonNode;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import understudy.workload.files.TraceException;

/** Part of a recording, which knows where it stands in its file. */
final class RecordedPart {
    private final String file;
    private final JsonNode json;
    private final String path;

    RecordedPart(String file, JsonNode json, String path) {
        this.file = file;
        this.json = json;
        this.path = path;
    }

    RecordedPart get(String name) {
        var child = json.get(name);
        if (child == null) {
            throw new TraceException(file, path + " has no field " + name);
        }
        return new RecordedPart(file, child, path + "." + name);
    }

    /** Returns a part that need not be there; null if it is not, or is null. */
    @Nullable RecordedPart find(String name) {
        var child = json.get(name);
        return child == null || child.isNull() ? null : new RecordedPart(file, child, path + "." + name);
    }

    /** Returns a number that need not be there. */
    int number(String name, int min, int otherwise) {
        var part = find(name);
        return part == null ? otherwise : part.number(min);
    }

    boolean bool(String name, boolean otherwise) {
        var part = find(name);
        return part == null ? otherwise : part.bool();
    }

    /** Returns lists, maps, texts, numbers and truth values as they stand there. */
    @Nullable Object plain() {
        return plain(json);
    }

    private static @Nullable Object plain(JsonNode node) {
        if (node.isArray()) {
            var list = new ArrayList<@Nullable Object>(node.size());
            node.forEach(element -> list.add(plain(element)));
            return list;
        } else if (node.isObject()) {
            var map = new LinkedHashMap<String, @Nullable Object>();
            node.properties().forEach(entry -> map.put(entry.getKey(), plain(entry.getValue())));
            return map;
        } else if (node.isTextual()) {
            return node.textValue();
        } else if (node.isBoolean()) {
            return node.booleanValue();
        } else if (node.isIntegralNumber()) {
            return node.canConvertToInt()
                    ? (Object) node.intValue()
                    : (Object) node.bigIntegerValue().longValue();
        }
        return node.isNull() ? null : (Object) node.doubleValue();
    }

    String text() {
        if (!json.isTextual()) {
            throw unusable("a text");
        }
        return json.textValue();
    }

    boolean bool() {
        if (!json.isBoolean()) {
            throw unusable("true or false");
        }
        return json.booleanValue();
    }

    int number(int min) {
        if (!json.canConvertToInt() || !json.isIntegralNumber() || json.intValue() < min) {
            throw unusable("a whole number of at least " + min);
        }
        return json.intValue();
    }

    /** Recordings are mostly such lists, so nothing is made for an element that is right. */
    IntList numbers() {
        if (!json.isArray()) {
            throw unusable("a list");
        }
        var numbers = new IntArrayList(json.size());
        for (int i = 0; i < json.size(); i++) {
            var number = json.get(i);
            if (!number.isInt() || number.intValue() < 0) {
                throw new RecordedPart(file, number, path + "[" + i + "]").unusable("a whole number of at least 0");
            }
            numbers.add(number.intValue());
        }
        return numbers;
    }

    /** Returns a block table; with several groups all of them, one behind the other, with -1 behind each. */
    IntList blockTables() {
        if (json.isEmpty() || !json.get(0).isArray()) {
            return numbers();
        }
        var all = new IntArrayList();
        for (var table : list(RecordedPart::numbers)) {
            all.addAll(table);
            all.add(-1);
        }
        return all;
    }

    <T> List<T> list(Function<RecordedPart, T> element) {
        if (!json.isArray()) {
            throw unusable("a list");
        }
        var list = new ArrayList<T>(json.size());
        for (int i = 0; i < json.size(); i++) {
            list.add(element.apply(new RecordedPart(file, json.get(i), path + "[" + i + "]")));
        }
        return list;
    }

    <T> Map<String, T> map(Function<RecordedPart, T> element) {
        if (!json.isObject()) {
            throw unusable("an object");
        }
        var map = new LinkedHashMap<String, T>();
        for (var entry : json.properties()) {
            map.put(
                    entry.getKey(),
                    element.apply(new RecordedPart(file, entry.getValue(), path + "." + entry.getKey())));
        }
        return map;
    }

    TraceException problem(String what) {
        return new TraceException(file, path + " " + what);
    }

    TraceException unusable(String allowed) {
        String shown = json.toString();
        String cut = shown.length() > 60 ? shown.substring(0, 60) + "..." : shown;
        return new TraceException(file, path + " is " + cut + ", must be " + allowed);
    }
}
