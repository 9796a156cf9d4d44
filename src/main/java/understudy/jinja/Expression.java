package understudy.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.jinja.python.Arguments;
import understudy.jinja.python.Callable;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Members;
import understudy.jinja.python.Operator;
import understudy.jinja.python.Slices;
import understudy.jinja.python.Text;
import understudy.jinja.python.Tuple;
import understudy.jinja.python.Undefined;
import understudy.jinja.python.Values;

/** An expression of a template. */
interface Expression {
    Object evaluate(Scope scope);

    /** A value that stands in the template. */
    record Constant(Object value) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return value;
        }
    }

    /** A variable. */
    record Name(String name) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return scope.get(name);
        }
    }

    /** A member, {@code of.name}. */
    record Attribute(Expression of, String name) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return Members.attribute(of.evaluate(scope), name);
        }
    }

    /** An item, {@code of[key]}. */
    record Item(Expression of, Expression key) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return Members.item(of.evaluate(scope), key.evaluate(scope));
        }
    }

    /** A part of a sequence, {@code of[from:to:by]}. */
    record Slice(Expression of, Expression from, Expression to, Expression by) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var sequence = of.evaluate(scope);
            if (sequence instanceof Undefined undefined) {
                throw undefined.failure();
            }
            if (!(sequence instanceof List || sequence instanceof String)) {
                return Undefined.member(sequence, "slice");
            }
            var part = Slices.of(sequence, from.evaluate(scope), to.evaluate(scope), by.evaluate(scope));
            return scope.budget().charged(part);
        }
    }

    /** A list or a tuple. */
    record Items(List<Expression> items, boolean isTuple) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var values = new ArrayList<Object>(items.size());
            items.forEach(each -> values.add(each.evaluate(scope)));
            return isTuple ? new Tuple(values) : values;
        }
    }

    /** A dict. */
    record Pairs(List<Expression> keys, List<Expression> values) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var pairs = new LinkedHashMap<Object, Object>();
            for (int i = 0; i < keys.size(); i++) {
                pairs.put(keys.get(i).evaluate(scope), values.get(i).evaluate(scope));
            }
            return pairs;
        }
    }

    /** Arguments of a call, of a filter or of a test. */
    record Given(
            List<Expression> positional,
            Map<String, Expression> named,
            @Nullable Expression more,
            @Nullable Expression moreNamed) {
        static final Given NOTHING = new Given(List.of(), Map.of(), null, null);

        private boolean isNothing() {
            return positional.isEmpty() && named.isEmpty() && more == null && moreNamed == null;
        }

        Arguments evaluate(Scope scope) {
            if (isNothing()) {
                return Arguments.NONE;
            }
            var values = new ArrayList<Object>();
            positional.forEach(each -> values.add(each.evaluate(scope)));
            if (more != null) {
                values.addAll(Values.items(more.evaluate(scope)));
            }
            var byName = new LinkedHashMap<String, Object>();
            named.forEach((name, each) -> byName.put(name, each.evaluate(scope)));
            if (moreNamed != null && moreNamed.evaluate(scope) instanceof Map<?, ?> map) {
                map.forEach((name, value) -> byName.put(Text.str(name), value));
            }
            return new Arguments(values, byName);
        }
    }

    /** A call, {@code function(arguments)}. */
    record Call(Expression function, Given given) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var called = function.evaluate(scope);
            if (called instanceof Undefined undefined) {
                throw undefined.failure();
            }
            if (!(called instanceof Callable callable)) {
                throw new JinjaException("'" + Values.typeName(called) + "' object is not callable");
            }
            scope.budget().charge(1);
            return scope.budget().charged(callable.call(given.evaluate(scope)));
        }
    }

    /** A filter, {@code input | filter(arguments)}. */
    record Filtered(Expression input, Filter filter, Given given) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return scope.budget().charged(filter.apply(input.evaluate(scope), given.evaluate(scope)));
        }
    }

    /** A test, {@code input is test(arguments)}. */
    record Tested(Expression input, Filter test, Given given) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return test.apply(input.evaluate(scope), given.evaluate(scope));
        }
    }

    /** A choice, {@code yes if condition else no}. */
    record Choice(Expression condition, Expression yes, Expression no) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            return (Values.isTrue(condition.evaluate(scope)) ? yes : no).evaluate(scope);
        }
    }

    /** {@code left and right}, or {@code left or right}. */
    record Either(Expression left, Expression right, boolean isAnd) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var value = left.evaluate(scope);
            return Values.isTrue(value) == isAnd ? right.evaluate(scope) : value;
        }
    }

    /** An operator between two values. */
    record Binary(Operator operator, Expression left, Expression right) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var value = operator.apply(left.evaluate(scope), right.evaluate(scope));
            return scope.budget().charged(value);
        }
    }

    /** A chain of comparisons, {@code first < second < third}. */
    record Comparison(Expression first, List<Operator> operators, List<Expression> others) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var left = first.evaluate(scope);
            Object holds = true;
            for (int i = 0; i < operators.size() && Values.isTrue(holds); i++) {
                var right = others.get(i).evaluate(scope);
                holds = operators.get(i).apply(left, right);
                left = right;
            }
            return holds;
        }
    }

    /** {@code left ~ right ~ ...}: texts one behind the other. */
    record Joined(List<Expression> parts) implements Expression {
        @Override
        public Object evaluate(Scope scope) {
            var text = new StringBuilder();
            parts.forEach(each -> text.append(Text.str(each.evaluate(scope))));
            return scope.budget().charged(text.toString());
        }
    }
}
