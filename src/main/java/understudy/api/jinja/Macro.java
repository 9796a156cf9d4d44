package understudy.api.jinja;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.api.jinja.python.Arguments;
import understudy.api.jinja.python.Callable;
import understudy.api.jinja.python.Escapes;
import understudy.api.jinja.python.Tuple;
import understudy.api.jinja.python.Undefined;

/** A macro: a block that is called like a function, and sees the variables around its definition. */
record Macro(String name, Shape shape, Scope scope) implements Callable {

    /**
     * What a macro is made of.
     *
     * @param defaults values of parameters that need not be given
     */
    record Shape(List<String> parameters, Map<String, Expression> defaults, Statement body) {}

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
        var caller = rest.remove("caller");
        if (caller != null) {
            inner.set("caller", caller);
        }
        inner.set("varargs", new Tuple(arguments.from(parameters.size()).positional()));
        inner.set("kwargs", rest);
        var output = new StringBuilder();
        scope.budget().enterCall();
        shape.body().run(inner, output);
        scope.budget().leaveCall();
        return output.toString();
    }

    private Object otherwise(String parameter, Scope inner) {
        var value = shape.defaults().get(parameter);
        return value == null
                ? new Undefined("parameter " + Escapes.quoted(parameter) + " was not provided")
                : value.evaluate(inner);
    }
}
