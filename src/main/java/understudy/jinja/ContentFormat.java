package understudy.jinja;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds out whether a template wants contents as parts or as text, as vLLM does ({@code _detect_content_format}): it wants
 * parts if it loops over the content of a message, by whatever names it calls messages.
 */
final class ContentFormat {
    private ContentFormat() {}

    static boolean readsParts(List<Statement.Assign> assignments, List<Statement.For> loops) {
        var messages = namesOf("messages", assignments);
        Set<String> items = new TreeSet<>();
        for (var loop : loops) {
            if (messages.stream().anyMatch(name -> isOf(loop.items(), name))) {
                if (!(loop.target() instanceof Target.Variable variable)) {
                    return false;
                }
                items.add(variable.name());
            }
        }
        return loops.stream()
                .filter(loop -> items.stream().anyMatch(name -> isContentOf(loop.items(), name)))
                .findFirst()
                .map(loop -> loop.target() instanceof Target.Variable)
                .orElse(false);
    }

    private static Set<String> namesOf(String name, List<Statement.Assign> assignments) {
        var names = new LinkedHashSet<>(List.of(name));
        var open = new ArrayList<>(names);
        while (!open.isEmpty()) {
            String known = open.remove(0);
            for (var each : assignments) {
                boolean isNew = isOf(each.value(), known)
                        && each.target() instanceof Target.Variable variable
                        && names.add(variable.name());
                if (isNew && each.target() instanceof Target.Variable variable) {
                    open.add(variable.name());
                }
            }
        }
        return names;
    }

    /** Returns the operand of filters, tests and slices. */
    private static Expression stripped(Expression expression) {
        var inner = expression;
        while (true) {
            if (inner instanceof Expression.Filtered filtered) {
                inner = filtered.input();
            } else if (inner instanceof Expression.Tested tested) {
                inner = tested.input();
            } else if (inner instanceof Expression.Slice slice) {
                inner = slice.of();
            } else {
                return inner;
            }
        }
    }

    private static boolean isOf(Expression expression, String name) {
        return stripped(expression) instanceof Expression.Name found
                && found.name().equals(name);
    }

    private static boolean isContentOf(Expression expression, String name) {
        var inner = stripped(expression);
        if (inner instanceof Expression.Attribute attribute) {
            return attribute.name().equals("content") && isName(attribute.of(), name);
        }
        return inner instanceof Expression.Item item
                && item.key() instanceof Expression.Constant key
                && key.value().equals("content")
                && isName(item.of(), name);
    }

    private static boolean isName(Expression expression, String name) {
        return expression instanceof Expression.Name found && found.name().equals(name);
    }
}
