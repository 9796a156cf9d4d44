package understudy.jinja.python;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Members and items of values (jinja2 {@code Environment.getattr} and {@code getitem}): a name after a dot is a method first
 * and a key then, one in brackets a key first.
 */
public final class Members {
    private static final Set<String> LIST_CHANGES =
            Set.of("append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove");
    private static final Set<String> DICT_CHANGES = Set.of("clear", "pop", "popitem", "setdefault", "update");

    private Members() {}

    public static Object attribute(Object of, String name) {
        var method = method(of, name);
        if (method != null) {
            return method;
        }
        var member = of instanceof Map<?, ?> map ? map.get(name) : null;
        return member == null ? Undefined.member(of, name) : member;
    }

    /** Returns a member that is no key. */
    public static Object methodOrUndefined(Object of, String name) {
        var method = method(of, name);
        return method == null ? Undefined.member(of, name) : method;
    }

    public static Object item(Object of, Object key) {
        var item = found(of, key);
        if (item != null) {
            return item;
        }
        var method = key instanceof String name ? method(of, name) : null;
        return method == null ? Undefined.member(of, key) : method;
    }

    private static @Nullable Object found(Object of, Object key) {
        if (of instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (of instanceof Map<?, ?> map) {
            return map.get(key);
        }
        boolean isIndex = Numbers.toNumber(key) instanceof Long;
        if (isIndex && (of instanceof List || of instanceof String)) {
            return Slices.item(of, Numbers.toLong(key, Long.MAX_VALUE));
        }
        return null;
    }

    /** Returns the value of a dotted name, as filters take it: {@code function.name}, {@code 0}. */
    public static Object path(Object of, Object path) {
        if (!(path instanceof String names)) {
            return item(of, path);
        }
        var value = of;
        for (String name : names.split("\\.", -1)) {
            boolean isIndex = !name.isEmpty() && name.chars().allMatch(c -> c >= '0' && c <= '9');
            value = item(value, isIndex ? Numbers.parse(name) : name);
        }
        return value;
    }

    private static @Nullable Object method(Object of, String name) {
        if (of instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (name.startsWith("_")) {
            return of instanceof Map ? null : unsafe(of, name);
        }
        if (of instanceof String text) {
            return StringMethods.find(text, name);
        }
        if (of instanceof Map<?, ?> map) {
            return DICT_CHANGES.contains(name) ? unsafe(of, name) : dictMethod(map, name);
        }
        if (of instanceof List<?> list) {
            boolean isChange = LIST_CHANGES.contains(name) && !(of instanceof Tuple);
            return isChange ? unsafe(of, name) : listMethod(list, name);
        }
        if (of instanceof Namespace namespace) {
            return namespace.members().get(name);
        }
        return of instanceof HasMembers object ? object.member(name) : null;
    }

    private static Undefined unsafe(Object of, String name) {
        return new Undefined("access to attribute '" + name + "' of '" + Values.typeName(of) + "' object is unsafe.");
    }

    private static @Nullable Callable dictMethod(Map<?, ?> map, String name) {
        return switch (name) {
            case "items" -> arguments -> entries(map);
            case "keys" -> arguments -> new ArrayList<Object>(map.keySet());
            case "values" -> arguments -> new ArrayList<Object>(map.values());
            case "copy" -> arguments -> new LinkedHashMap<Object, Object>(map);
            case "get" ->
                arguments -> Objects.requireNonNullElse(
                        map.get(arguments.get(0, "key")), arguments.get(1, "default", None.NONE));
            default -> null;
        };
    }

    public static List<Object> entries(Map<?, ?> map) {
        var entries = new ArrayList<Object>(map.size());
        map.forEach((key, value) -> entries.add(Tuple.of(key, value)));
        return entries;
    }

    private static @Nullable Callable listMethod(List<?> list, String name) {
        return switch (name) {
            case "count" ->
                arguments -> list.stream()
                        .filter(each -> Values.areEqual(each, arguments.get(0, "value")))
                        .count();
            case "index" ->
                arguments -> {
                    var value = arguments.get(0, "value");
                    for (int i = 0; i < list.size(); i++) {
                        if (Values.areEqual(list.get(i), value)) {
                            return (long) i;
                        }
                    }
                    throw new JinjaException(Text.repr(value) + " is not in list");
                };
            case "copy" -> arguments -> list;
            default -> null;
        };
    }
}
