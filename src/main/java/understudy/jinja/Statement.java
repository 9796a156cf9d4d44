package understudy.jinja;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.jinja.Expression.Given;
import understudy.jinja.python.Callable;
import understudy.jinja.python.Text;
import understudy.jinja.python.Values;

/** A statement of a template, or text between statements. */
interface Statement {
    /** How a statement ends. */
    enum Flow {
        NEXT,
        BREAK,
        CONTINUE
    }

    Flow run(Scope scope, StringBuilder output);

    private static String text(Statement body, Scope scope) {
        var output = new StringBuilder();
        body.run(scope, output);
        return output.toString();
    }

    private static void write(String text, Scope scope, StringBuilder output) {
        scope.budget().charge(text.length());
        output.append(text);
    }

    /** Statements, one after the other. */
    record Body(List<Statement> statements) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            for (var each : statements) {
                scope.budget().charge(1);
                var flow = each.run(scope, output);
                if (flow != Flow.NEXT) {
                    return flow;
                }
            }
            return Flow.NEXT;
        }
    }

    /** Text that stands in the template. */
    record Data(String text) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            write(text, scope, output);
            return Flow.NEXT;
        }
    }

    /** {@code {{ value }}}. */
    record Output(Expression value) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            write(Text.str(value.evaluate(scope)), scope, output);
            return Flow.NEXT;
        }
    }

    /** {@code break} or {@code continue}. */
    record Leave(Flow flow) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            return flow;
        }
    }

    /** {@code if}; {@code elif} is another one in the place of {@code otherwise}. */
    record If(Expression condition, Statement then, Statement otherwise) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            return (Values.isTrue(condition.evaluate(scope)) ? then : otherwise).run(scope, output);
        }
    }

    /** {@code set target = value}. */
    record Assign(Target target, Expression value) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            target.assign(value.evaluate(scope), scope);
            return Flow.NEXT;
        }
    }

    /** {@code set target}, up to {@code endset}: what a block writes, through filters if there are any. */
    record AssignBlock(Target target, Statement body, FilterOf filters) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            target.assign(
                    filters.of(new Expression.Constant(text(body, scope.inner())))
                            .evaluate(scope),
                    scope);
            return Flow.NEXT;
        }
    }

    /** Makes the expression that filters an input. */
    interface FilterOf {
        Expression of(Expression input);
    }

    /** Output of a block, passed through filters. */
    record FilterBlock(Statement body, FilterOf filters) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            var input = new Expression.Constant(text(body, scope.inner()));
            write(Text.str(filters.of(input).evaluate(scope)), scope, output);
            return Flow.NEXT;
        }
    }

    /** {@code with}: variables for a block. */
    record With(List<Target> targets, List<Expression> values, Statement body) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            var inner = scope.inner();
            for (int i = 0; i < targets.size(); i++) {
                targets.get(i).assign(values.get(i).evaluate(scope), inner);
            }
            return body.run(inner, output);
        }
    }

    /** {@code macro}. */
    record Define(String name, Macro.Shape shape) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            scope.set(name, new Macro(name, shape, scope));
            return Flow.NEXT;
        }
    }

    /** {@code call}: calls a macro, which may call the block back. */
    record CallBlock(Expression function, Given given, Macro.Shape block) implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            var caller = new Expression.Constant(new Macro("caller", block, scope));
            var named = new java.util.LinkedHashMap<>(given.named());
            named.put("caller", caller);
            var call = new Expression.Call(
                    function, new Given(given.positional(), named, given.more(), given.moreNamed()));
            write(Text.str(call.evaluate(scope)), scope, output);
            return Flow.NEXT;
        }
    }

    /**
     * {@code for}.
     *
     * @param condition which items to take, or null for all
     * @param isRecursive whether the block may call the loop for other items
     */
    record For(
            Target target,
            Expression items,
            @Nullable Expression condition,
            Statement body,
            Statement otherwise,
            boolean isRecursive)
            implements Statement {
        @Override
        public Flow run(Scope scope, StringBuilder output) {
            loop(items.evaluate(scope), scope, output, 1);
            return Flow.NEXT;
        }

        private void loop(Object over, Scope scope, StringBuilder output, int depth) {
            var taken = taken(Values.items(over), scope);
            if (taken.isEmpty()) {
                otherwise.run(scope, output);
                return;
            }
            var loop = new Loop(taken, depth);
            Object variable = isRecursive ? recursion(scope, depth) : loop;
            for (int i = 0; i < taken.size(); i++) {
                scope.budget().charge(1);
                loop.moveTo(i);
                var inner = scope.inner();
                inner.set("loop", variable);
                target.assign(taken.get(i), inner);
                if (body.run(inner, output) == Flow.BREAK) {
                    return;
                }
            }
        }

        private Callable recursion(Scope scope, int depth) {
            return arguments -> {
                var output = new StringBuilder();
                scope.budget().enterCall();
                loop(arguments.get(0, "iterable"), scope, output, depth + 1);
                scope.budget().leaveCall();
                return output.toString();
            };
        }

        private List<Object> taken(List<Object> all, Scope scope) {
            if (condition == null) {
                return all;
            }
            var taken = new ArrayList<Object>();
            for (var each : all) {
                var inner = scope.inner();
                target.assign(each, inner);
                if (Values.isTrue(condition.evaluate(inner))) {
                    taken.add(each);
                }
            }
            return taken;
        }
    }
}
