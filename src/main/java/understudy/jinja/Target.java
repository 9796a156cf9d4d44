package understudy.jinja;

import java.util.List;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Namespace;
import understudy.jinja.python.Values;

/** Target of an assignment. */
interface Target {
    void assign(Object value, Scope scope);

    /** A variable. */
    record Variable(String name) implements Target {
        @Override
        public void assign(Object value, Scope scope) {
            scope.set(name, value);
        }
    }

    /** A member of a namespace. */
    record Member(String namespace, String name) implements Target {
        @Override
        public void assign(Object value, Scope scope) {
            if (!(scope.get(namespace) instanceof Namespace known)) {
                throw new JinjaException("cannot assign attribute on non-namespace object");
            }
            known.members().put(name, value);
        }
    }

    /** Several, which share the items of the value. */
    record Several(List<Target> targets) implements Target {
        @Override
        public void assign(Object value, Scope scope) {
            var items = Values.items(value);
            if (items.size() != targets.size()) {
                throw new JinjaException(
                        items.size() > targets.size()
                                ? "too many values to unpack (expected " + targets.size() + ")"
                                : "not enough values to unpack (expected " + targets.size() + ", got " + items.size()
                                        + ")");
            }
            for (int i = 0; i < items.size(); i++) {
                targets.get(i).assign(items.get(i), scope);
            }
        }
    }
}
