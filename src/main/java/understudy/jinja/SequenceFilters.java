package understudy.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import understudy.jinja.python.Arguments;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Members;
import understudy.jinja.python.None;
import understudy.jinja.python.Operator;
import understudy.jinja.python.StringMethods;
import understudy.jinja.python.Text;
import understudy.jinja.python.Tuple;
import understudy.jinja.python.Undefined;
import understudy.jinja.python.Values;

/** Filters of sequences. They return whole lists, even where Python's return generators. */
final class SequenceFilters {
    static final Map<String, Filter> FILTERS = Map.ofEntries(
            Map.entry("length", (value, with) -> Values.length(value)),
            Map.entry("count", (value, with) -> Values.length(value)),
            Map.entry("list", (value, with) -> List.copyOf(Values.items(value))),
            Map.entry("first", (value, with) -> end(value, true)),
            Map.entry("last", (value, with) -> end(value, false)),
            Map.entry("join", SequenceFilters::join),
            Map.entry("reverse", SequenceFilters::reverse),
            Map.entry("items", (value, with) -> items(value)),
            Map.entry("map", SequenceFilters::map),
            Map.entry("select", (value, with) -> picked(value, with, false, true)),
            Map.entry("reject", (value, with) -> picked(value, with, false, false)),
            Map.entry("selectattr", (value, with) -> picked(value, with, true, true)),
            Map.entry("rejectattr", (value, with) -> picked(value, with, true, false)),
            Map.entry("sort", SequenceFilters::sort),
            Map.entry("dictsort", SequenceFilters::dictSort),
            Map.entry("unique", SequenceFilters::unique),
            Map.entry("min", (value, with) -> extreme(value, with, 1)),
            Map.entry("max", (value, with) -> extreme(value, with, -1)),
            Map.entry("sum", SequenceFilters::sum),
            Map.entry("groupby", SequenceFilters::groupBy),
            Map.entry("batch", SequenceFilters::batch));

    private SequenceFilters() {}

    private static Object end(Object value, boolean isFirst) {
        var items = Values.items(value);
        if (items.isEmpty()) {
            return new Undefined("No " + (isFirst ? "first" : "last") + " item, sequence was empty.");
        }
        return items.get(isFirst ? 0 : items.size() - 1);
    }

    private static Object join(Object value, Arguments with) {
        String separator = Text.str(with.get(0, "d", ""));
        var path = with.get(1, "attribute", None.NONE);
        var joined = new StringBuilder();
        String before = "";
        for (var each : Values.items(value)) {
            joined.append(before).append(Text.str(path == None.NONE ? each : Members.path(each, path)));
            before = separator;
        }
        return joined.toString();
    }

    private static Object reverse(Object value, Arguments with) {
        if (value instanceof String text) {
            return StringMethods.reversed(text);
        }
        var reversed = new ArrayList<>(Values.items(value));
        Collections.reverse(reversed);
        return reversed;
    }

    private static Object items(Object value) {
        if (value instanceof Undefined) {
            return List.of();
        }
        if (!(value instanceof Map<?, ?> map)) {
            throw new JinjaException("Can only get item pairs from a mapping.");
        }
        return Members.entries(map);
    }

    private static Object map(Object value, Arguments with) {
        var mapped = new ArrayList<Object>();
        var path = with.named().get("attribute");
        if (path == null && with.positional().isEmpty()) {
            throw new JinjaException("map requires a filter argument");
        }
        var otherwise = with.named().get("default");
        for (var each : Values.items(value)) {
            if (path == null) {
                mapped.add(Filters.find(with.text(0, "filter"), 0).apply(each, with.from(1)));
            } else {
                var found = Members.path(each, path);
                mapped.add(found instanceof Undefined && otherwise != null ? otherwise : found);
            }
        }
        return mapped;
    }

    private static Object picked(Object value, Arguments with, boolean isByAttribute, boolean isPicked) {
        int at = isByAttribute ? 1 : 0;
        boolean hasTest = with.positional().size() > at;
        Filter test = hasTest ? JinjaTests.find(with.text(at, "test"), 0) : (each, none) -> Values.isTrue(each);
        var rest = with.from(at + 1);
        var picked = new ArrayList<Object>();
        for (var each : Values.items(value)) {
            var tested = isByAttribute ? Members.path(each, with.get(0, "attribute")) : each;
            if (Values.isTrue(test.apply(tested, rest)) == isPicked) {
                picked.add(each);
            }
        }
        return picked;
    }

    /** Returns the key by which items are compared. */
    private static Object key(Object item, Object path, boolean isCaseSensitive) {
        var key = path == None.NONE ? item : Members.path(item, path);
        return key instanceof String text && !isCaseSensitive ? text.toLowerCase(Locale.ROOT) : key;
    }

    private static Comparator<Object> order(Object path, boolean isCaseSensitive, boolean isReversed) {
        return (one, other) -> (isReversed ? -1 : 1)
                * Values.compare(key(one, path, isCaseSensitive), key(other, path, isCaseSensitive), "<");
    }

    private static Object sort(Object value, Arguments with) {
        var sorted = new ArrayList<>(Values.items(value));
        boolean isReversed = with.flag(0, "reverse", false);
        sorted.sort(order(with.get(2, "attribute", None.NONE), with.flag(1, "case_sensitive", false), isReversed));
        return sorted;
    }

    private static Object dictSort(Object value, Arguments with) {
        if (!(value instanceof Map<?, ?> map)) {
            throw new JinjaException("'" + Values.typeName(value) + " object' has no attribute 'items'");
        }
        var sorted = new ArrayList<>(Members.entries(map));
        Object by = with.text(1, "by", "key").equals("value") ? 1L : 0L;
        sorted.sort(order(by, with.flag(0, "case_sensitive", false), with.flag(2, "reverse", false)));
        return sorted;
    }

    private static Object unique(Object value, Arguments with) {
        var unique = new LinkedHashMap<Object, Object>();
        var path = with.get(1, "attribute", None.NONE);
        boolean isCaseSensitive = with.flag(0, "case_sensitive", false);
        Values.items(value).forEach(each -> unique.putIfAbsent(key(each, path, isCaseSensitive), each));
        return new ArrayList<>(unique.values());
    }

    private static Object extreme(Object value, Arguments with, int sign) {
        var items = Values.items(value);
        if (items.isEmpty()) {
            return new Undefined("No aggregated item, sequence was empty.");
        }
        var order = order(with.get(1, "attribute", None.NONE), with.flag(0, "case_sensitive", false), sign < 0);
        return Collections.min(items, order);
    }

    private static Object sum(Object value, Arguments with) {
        var path = with.get(0, "attribute", None.NONE);
        var sum = with.get(1, "start", 0L);
        for (var each : Values.items(value)) {
            sum = Operator.add(sum, path == None.NONE ? each : Members.path(each, path));
        }
        return sum;
    }

    private static Object groupBy(Object value, Arguments with) {
        var path = with.get(0, "attribute");
        boolean isCaseSensitive = with.flag(2, "case_sensitive", false);
        var sorted = new ArrayList<>(Values.items(value));
        sorted.sort(order(path, isCaseSensitive, false));
        var groups = new LinkedHashMap<Object, List<Object>>();
        sorted.forEach(each -> groups.computeIfAbsent(key(each, path, isCaseSensitive), key -> new ArrayList<>())
                .add(each));
        var pairs = new ArrayList<Object>();
        groups.forEach((key, group) -> pairs.add(Tuple.of(Members.path(group.get(0), path), group)));
        return pairs;
    }

    private static Object batch(Object value, Arguments with) {
        int size = Math.max(1, with.number(0, "linecount", 1));
        var filling = with.get(1, "fill_with", None.NONE);
        var batches = new ArrayList<Object>();
        var items = Values.items(value);
        for (int from = 0; from < items.size(); from += size) {
            var batch = new ArrayList<>(items.subList(from, Math.min(items.size(), from + size)));
            while (filling != None.NONE && batch.size() < size && size <= 1000) {
                batch.add(filling);
            }
            batches.add(batch);
        }
        return batches;
    }
}
