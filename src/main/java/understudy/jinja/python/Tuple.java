package understudy.jinja.python;

import java.util.AbstractList;
import java.util.List;

/** A tuple, which is a list of another type. */
public final class Tuple extends AbstractList<Object> {
    private final List<Object> items;

    public Tuple(List<Object> items) {
        this.items = items;
    }

    public static Tuple of(Object one, Object other) {
        return new Tuple(List.of(one, other));
    }

    @Override
    public Object get(int index) {
        return items.get(index);
    }

    @Override
    public int size() {
        return items.size();
    }
}
