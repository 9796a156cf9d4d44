package understudy.jinja.python;

import java.util.List;
import java.util.Map;

/** Arguments of a call. */
public record Arguments(List<Object> positional, Map<String, Object> named) {
    public static final Arguments NONE = new Arguments(List.of(), Map.of());

    public static Arguments of(Object... positional) {
        return new Arguments(List.of(positional), Map.of());
    }

    public boolean isEmpty() {
        return positional.isEmpty() && named.isEmpty();
    }

    /** Returns an argument by its position or its name, or what it is otherwise. */
    public Object get(int index, String name, Object otherwise) {
        return index < positional.size() ? positional.get(index) : named.getOrDefault(name, otherwise);
    }

    public Object get(int index, String name) {
        var value = get(index, name, Undefined.name(name));
        if (value instanceof Undefined && index >= positional.size() && !named.containsKey(name)) {
            throw new JinjaException("missing a required argument: '" + name + "'");
        }
        return value;
    }

    public String text(int index, String name) {
        return text(get(index, name));
    }

    public String text(int index, String name, String otherwise) {
        return text(get(index, name, otherwise));
    }

    private static String text(Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw new JinjaException("must be str, not " + Values.typeName(value));
    }

    public int number(int index, String name, int otherwise) {
        return Math.toIntExact(Numbers.toLong(get(index, name, (long) otherwise), Integer.MAX_VALUE));
    }

    public boolean flag(int index, String name, boolean otherwise) {
        return Values.isTrue(get(index, name, otherwise));
    }

    /** Returns all but the first positional arguments. */
    public Arguments from(int index) {
        return new Arguments(positional.subList(Math.min(index, positional.size()), positional.size()), named);
    }
}
