package understudy.jinja.python;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Python's rules for values: {@code None}, {@code bool}, {@code int} (long or big), {@code float} (double), {@code str},
 * lists, tuples and dicts. No template changes any of them; only {@link Namespace} can be set.
 */
public final class Values {
    private Values() {}

    public static String typeName(Object value) {
        if (value instanceof String) {
            return "str";
        }
        if (value instanceof Boolean) {
            return "bool";
        }
        if (value instanceof Long || value instanceof BigInteger) {
            return "int";
        }
        if (value instanceof Double) {
            return "float";
        }
        if (value instanceof Tuple) {
            return "tuple";
        }
        if (value instanceof List) {
            return "list";
        }
        if (value instanceof Map) {
            return "dict";
        }
        if (value == None.NONE) {
            return "NoneType";
        }
        return value instanceof Callable ? "function" : value.getClass().getSimpleName();
    }

    public static boolean isTrue(Object value) {
        if (value instanceof Boolean flag) {
            return flag;
        }
        if (value instanceof String text) {
            return !text.isEmpty();
        }
        if (value instanceof List<?> list) {
            return !list.isEmpty();
        }
        if (value instanceof Map<?, ?> map) {
            return !map.isEmpty();
        }
        if (value instanceof Number number) {
            return number.doubleValue() != 0;
        }
        return value != None.NONE && !(value instanceof Undefined);
    }

    public static boolean areEqual(Object one, Object other) {
        if (Numbers.isNumber(one) && Numbers.isNumber(other)) {
            return Numbers.compare(one, other) == 0;
        }
        if (one instanceof List<?> list && other instanceof List<?> others) {
            boolean isSameType = one instanceof Tuple == other instanceof Tuple;
            return isSameType && list.size() == others.size() && haveEqualItems(list, others);
        }
        if (one instanceof Map<?, ?> map && other instanceof Map<?, ?> others) {
            return map.size() == others.size()
                    && map.entrySet().stream().allMatch(each -> {
                        var value = others.get(each.getKey());
                        return value != null && areEqual(each.getValue(), value);
                    });
        }
        return one instanceof Undefined ? other instanceof Undefined : one.equals(other);
    }

    private static boolean haveEqualItems(List<?> list, List<?> others) {
        for (int i = 0; i < list.size(); i++) {
            if (!areEqual(list.get(i), others.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Compares for {@code operator}, which failures name. */
    public static int compare(Object one, Object other, String operator) {
        if (Numbers.isNumber(one) && Numbers.isNumber(other)) {
            return Numbers.compare(one, other);
        }
        if (one instanceof String text && other instanceof String others) {
            return text.compareTo(others);
        }
        if (one instanceof List<?> list && other instanceof List<?> others) {
            for (int i = 0; i < list.size() && i < others.size(); i++) {
                if (!areEqual(list.get(i), others.get(i))) {
                    return compare(list.get(i), others.get(i), operator);
                }
            }
            return Integer.compare(list.size(), others.size());
        }
        throw either(one, other)
                .orElse(new JinjaException("'" + operator + "' not supported between instances of '" + typeName(one)
                        + "' and '" + typeName(other) + "'"));
    }

    /** Returns the failure of an operand that is not there. */
    public static java.util.Optional<JinjaException> either(Object one, Object other) {
        var missing = one instanceof Undefined ? one : other;
        return missing instanceof Undefined undefined
                ? java.util.Optional.of(undefined.failure())
                : java.util.Optional.empty();
    }

    /** Returns the items that a loop over a value goes through. */
    public static List<Object> items(Object value) {
        if (value instanceof List<?> list) {
            @SuppressWarnings("unchecked")
            var items = (List<Object>) list;
            return items;
        }
        if (value instanceof Map<?, ?> map) {
            return new ArrayList<>(map.keySet());
        }
        if (value instanceof String text) {
            return Strings.characters(text);
        }
        if (value instanceof Undefined) {
            return List.of();
        }
        throw new JinjaException("'" + typeName(value) + "' object is not iterable");
    }

    public static long length(Object value) {
        if (value instanceof String text) {
            return text.codePointCount(0, text.length());
        }
        if (value instanceof List<?> list) {
            return list.size();
        }
        if (value instanceof Map<?, ?> map) {
            return map.size();
        }
        if (value instanceof Undefined) {
            return 0;
        }
        throw new JinjaException("object of type '" + typeName(value) + "' has no len()");
    }

    public static boolean contains(Object container, Object value) {
        if (container instanceof String text) {
            if (value instanceof String part) {
                return text.contains(part);
            }
            throw either(value, value)
                    .orElse(new JinjaException(
                            "'in <string>' requires string as left operand, not " + typeName(value)));
        }
        if (container instanceof Map<?, ?> map) {
            return map.containsKey(value);
        }
        if (container instanceof List<?> list) {
            return list.stream().anyMatch(each -> areEqual(each, value));
        }
        if (container instanceof Undefined) {
            return false;
        }
        throw new JinjaException("argument of type '" + typeName(container) + "' is not iterable");
    }
}
