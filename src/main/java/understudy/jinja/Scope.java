package understudy.jinja;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.jinja.python.Undefined;

/** Variables of a block, within those of the block around it; variables that a block sets are unknown outside of it. */
final class Scope {
    private final @Nullable Scope outer;
    private final Budget budget;
    private final Map<String, Object> variables;

    private Scope(@Nullable Scope outer, Budget budget, Map<String, Object> variables) {
        this.outer = outer;
        this.budget = budget;
        this.variables = variables;
    }

    static Scope of(Map<String, Object> variables, Budget budget) {
        return new Scope(null, budget, variables);
    }

    Scope inner() {
        return new Scope(this, budget, new HashMap<>());
    }

    Budget budget() {
        return budget;
    }

    Object get(String name) {
        for (var scope = this; scope != null; scope = scope.outer) {
            var value = scope.variables.get(name);
            if (value != null) {
                return value;
            }
        }
        return Undefined.name(name);
    }

    void set(String name, Object value) {
        variables.put(name, value);
    }
}
