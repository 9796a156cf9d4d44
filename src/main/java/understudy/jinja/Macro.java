package understudy.jinja;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import understudy.jinja.python.Arguments;
import understudy.jinja.python.Callable;
import understudy.jinja.python.Escapes;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Tuple;
import understudy.jinja.python.Undefined;

/** A macro: a block that is called like a function, and sees the variables around its definition. */
record Macro(String name, Shape shape, Scope scope) implements Callable {

    /**
     * Definition of a macro.
     *
     * @param defaults values of parameters that need not be given
     * @param read which of {@code varargs}, {@code kwargs} and {@code caller} the block reads
     */
    record Shape(List<String> parameters, Map<String, Expression> defaults, Statement body, Set<String> read) {}

    @Override
    public Object call(Arguments arguments) {
        var inner = scope.inner();
        var rest = new LinkedHashMap<>(arguments.named());
        int numGiven = arguments.positional().size();
        var parameters = shape.parameters();
        for (int i = 0; i < parameters.size(); i++) {
            String parameter = parameters.get(i);
            var named = rest.remove(parameter);
            var value = i < numGiven ? arguments.positional().get(i) : named;
            inner.set(parameter, value == null ? otherwise(parameter, inner) : value);
        }
        setRest(arguments.from(parameters.size()).positional(), rest, inner);
        var output = new StringBuilder();
        scope.budget().enterCall();
        shape.body().run(inner, output);
        scope.budget().leaveCall();
        return output.toString();
    }

    /**
     * Sets {@code varargs}, {@code kwargs} and {@code caller}; arguments left over are an error if the block does not
     * read them.
     */
    private void setRest(List<Object> positional, Map<String, Object> named, Scope inner) {
        var caller = shape.read().contains("caller") ? named.remove("caller") : null;
        if (caller != null) {
            inner.set("caller", caller);
        }
        if (!shape.read().contains("kwargs") && !named.isEmpty()) {
            String first = named.keySet().iterator().next();
            throw new JinjaException(
                    "macro " + Escapes.quoted(name) + " takes no keyword argument " + Escapes.quoted(first));
        }
        if (!shape.read().contains("varargs") && !positional.isEmpty()) {
            throw new JinjaException("macro " + Escapes.quoted(name) + " takes not more than "
                    + shape.parameters().size() + " argument(s)");
        }
        inner.set("kwargs", named);
        inner.set("varargs", new Tuple(positional));
    }

    private Object otherwise(String parameter, Scope inner) {
        var value = shape.defaults().get(parameter);
        return value == null
                ? new Undefined("parameter " + Escapes.quoted(parameter) + " was not provided")
                : value.evaluate(inner);
    }
}
