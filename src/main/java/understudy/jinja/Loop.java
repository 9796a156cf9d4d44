package understudy.jinja;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.jinja.python.Arguments;
import understudy.jinja.python.Callable;
import understudy.jinja.python.HasMembers;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Undefined;
import understudy.jinja.python.Values;

/** The variable {@code loop}: the position of a loop, and the items before and behind. */
final class Loop implements HasMembers {
    private final List<Object> items;
    private final int depth;
    private int index;
    private @Nullable List<Object> changed;

    Loop(List<Object> items, int depth) {
        this.items = items;
        this.depth = depth;
    }

    void moveTo(int item) {
        index = item;
    }

    @Override
    public @Nullable Object member(String name) {
        return switch (name) {
            case "index" -> index + 1L;
            case "index0" -> (long) index;
            case "revindex" -> (long) items.size() - index;
            case "revindex0" -> items.size() - index - 1L;
            case "first" -> index == 0;
            case "last" -> index == items.size() - 1;
            case "length" -> (long) items.size();
            case "depth" -> (long) depth;
            case "depth0" -> depth - 1L;
            case "previtem" -> index > 0 ? items.get(index - 1) : new Undefined("there is no previous item");
            case "nextitem" -> index + 1 < items.size() ? items.get(index + 1) : new Undefined("there is no next item");
            case "cycle" -> (Callable) this::cycle;
            case "changed" -> (Callable) this::hasChanged;
            default -> null;
        };
    }

    private Object cycle(Arguments arguments) {
        var values = arguments.positional();
        if (values.isEmpty()) {
            throw new JinjaException("no items for cycling given");
        }
        return values.get(index % values.size());
    }

    private Object hasChanged(Arguments arguments) {
        var values = new ArrayList<>(arguments.positional());
        boolean isSame = changed != null && Values.areEqual(changed, values);
        changed = values;
        return !isSame;
    }
}
