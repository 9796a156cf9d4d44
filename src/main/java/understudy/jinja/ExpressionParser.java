package understudy.jinja;

import java.util.ArrayList;
import java.util.List;
import understudy.jinja.Expression.Given;
import understudy.jinja.Token.Kind;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.Operator;
import understudy.jinja.python.Undefined;
import understudy.jinja.python.Values;

/** Parser of expressions, with the precedence of jinja2's {@code Parser}: {@code +} binds less than {@code ~}. */
final class ExpressionParser {
    private static final int MOST_DEPTH = 100;

    private final TokenReader tokens;
    private final OperandParser operands;
    private int depth;

    ExpressionParser(TokenReader tokens) {
        this.tokens = tokens;
        operands = new OperandParser(tokens, this);
    }

    /** Parses an expression, or several with commas between them, which are a tuple. */
    Expression tuple(boolean mayChoose) {
        var first = mayChoose ? expression() : or();
        if (!tokens.current().is(",")) {
            return first;
        }
        var items = new ArrayList<>(List.of(first));
        while (tokens.skip(",") && !endsTuple()) {
            items.add(mayChoose ? expression() : or());
        }
        return new Expression.Items(items, true);
    }

    private boolean endsTuple() {
        var token = tokens.current();
        boolean endsTag = token.kind() == Kind.VARIABLE_END || token.kind() == Kind.BLOCK_END;
        return endsTag || token.is(")") || token.isName("recursive");
    }

    Expression expression() {
        if (++depth > MOST_DEPTH) {
            throw JinjaException.at(tokens.current().line(), "nested too deeply");
        }
        var value = or();
        while (tokens.skipName("if")) {
            var condition = or();
            var no = tokens.skipName("else") ? expression() : undefinedChoice();
            value = new Expression.Choice(condition, value, no);
        }
        depth--;
        return value;
    }

    private static Expression undefinedChoice() {
        return new Expression.Constant(
                new Undefined("the inline if-expression evaluated to false and no else section was defined."));
    }

    private Expression or() {
        var left = and();
        while (tokens.skipName("or")) {
            left = new Expression.Either(left, and(), false);
        }
        return left;
    }

    private Expression and() {
        var left = not();
        while (tokens.skipName("and")) {
            left = new Expression.Either(left, not(), true);
        }
        return left;
    }

    private Expression not() {
        return tokens.skipName("not") ? negated(not()) : comparison();
    }

    private static Expression negated(Expression value) {
        return scope -> !Values.isTrue(value.evaluate(scope));
    }

    private Expression comparison() {
        var first = sum();
        var operators = new ArrayList<Operator>();
        var others = new ArrayList<Expression>();
        while (true) {
            String sign = comparing();
            var operator = Operator.COMPARING.get(sign);
            if (operator == null) {
                return operators.isEmpty() ? first : new Expression.Comparison(first, operators, others);
            }
            tokens.next();
            if (sign.equals("not in")) {
                tokens.next();
            }
            operators.add(operator);
            others.add(sum());
        }
    }

    private String comparing() {
        var token = tokens.current();
        if (token.kind() == Kind.OPERATOR || token.isName("in")) {
            return token.text();
        }
        return token.isName("not") && tokens.following().isName("in") ? "not in" : "";
    }

    private Expression sum() {
        var left = joined();
        while (tokens.current().is("+") || tokens.current().is("-")) {
            left = binary(left, tokens.next().text(), joined());
        }
        return left;
    }

    private static Expression binary(Expression left, String sign, Expression right) {
        var operator = Operator.ARITHMETIC.get(sign);
        if (operator == null) {
            throw new JinjaException("unknown operator " + sign);
        }
        return new Expression.Binary(operator, left, right);
    }

    private Expression joined() {
        var first = product();
        if (!tokens.current().is("~")) {
            return first;
        }
        var parts = new ArrayList<>(List.of(first));
        while (tokens.skip("~")) {
            parts.add(product());
        }
        return new Expression.Joined(parts);
    }

    private Expression product() {
        var left = power();
        while (tokens.isOneOf("*", "/", "//", "%")) {
            left = binary(left, tokens.next().text(), power());
        }
        return left;
    }

    private Expression power() {
        var left = unary(true);
        while (tokens.skip("**")) {
            left = binary(left, "**", unary(true));
        }
        return left;
    }

    private Expression unary(boolean takesFilters) {
        Expression value;
        if (tokens.skip("-")) {
            value = negative(unary(false));
        } else if (tokens.skip("+")) {
            value = unary(false);
        } else {
            value = operands.primary();
        }
        value = operands.postfix(value);
        return takesFilters ? filtered(value) : value;
    }

    private static Expression negative(Expression value) {
        return scope -> Operator.negative(value.evaluate(scope));
    }

    private Expression filtered(Expression start) {
        var value = start;
        while (true) {
            if (tokens.current().is("|")) {
                value = filter(value);
            } else if (tokens.skipName("is")) {
                value = test(value);
            } else if (tokens.current().is("(")) {
                value = new Expression.Call(value, operands.arguments());
            } else {
                return value;
            }
        }
    }

    /** Parses the filters that follow, the first of them also where no {@code |} stands before it. */
    Expression filter(Expression input) {
        var value = input;
        do {
            tokens.skip("|");
            int line = tokens.current().line();
            var filter = Filters.find(tokens.name(), line);
            value = new Expression.Filtered(
                    value, filter, tokens.current().is("(") ? operands.arguments() : Given.NOTHING);
        } while (tokens.current().is("|"));
        return value;
    }

    private Expression test(Expression value) {
        boolean isNegated = tokens.skipName("not");
        int line = tokens.current().line();
        var test = JinjaTests.find(tokens.name(), line);
        var given = Given.NOTHING;
        if (tokens.current().is("(")) {
            given = operands.arguments();
        } else if (startsArgument()) {
            given = new Given(List.of(operands.postfix(operands.primary())), java.util.Map.of(), null, null);
        }
        var tested = new Expression.Tested(value, test, given);
        return isNegated ? negated(tested) : tested;
    }

    private boolean startsArgument() {
        var token = tokens.current();
        if (token.isName("is")) {
            throw JinjaException.at(token.line(), "You cannot chain multiple tests with is");
        }
        return switch (token.kind()) {
            case NAME -> !token.isName("else") && !token.isName("or") && !token.isName("and");
            case STRING, INTEGER, FLOAT -> true;
            default -> tokens.isOneOf("[", "{");
        };
    }
}
