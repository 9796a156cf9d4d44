package understudy.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.jinja.Expression.Given;
import understudy.jinja.Token.Kind;
import understudy.jinja.python.JinjaException;
import understudy.jinja.python.None;
import understudy.jinja.python.Numbers;

/** Parser of operands: names, literals, what is in brackets, and the members, items and calls that follow them. */
final class OperandParser {
    private static final Expression NOTHING = new Expression.Constant(None.NONE);

    private final TokenReader tokens;
    private final ExpressionParser expressions;

    OperandParser(TokenReader tokens, ExpressionParser expressions) {
        this.tokens = tokens;
        this.expressions = expressions;
    }

    Expression primary() {
        var token = tokens.next();
        return switch (token.kind()) {
            case NAME -> named(token.text());
            case STRING -> {
                var text = new StringBuilder(token.text());
                while (tokens.current().kind() == Kind.STRING) {
                    text.append(tokens.next().text());
                }
                yield new Expression.Constant(text.toString());
            }
            case INTEGER -> new Expression.Constant(Numbers.parse(token.text()));
            case FLOAT -> new Expression.Constant(Double.valueOf(token.text()));
            default -> enclosed(token);
        };
    }

    private static Expression named(String name) {
        return switch (name) {
            case "true", "True" -> new Expression.Constant(true);
            case "false", "False" -> new Expression.Constant(false);
            case "none", "None" -> NOTHING;
            default -> new Expression.Name(name);
        };
    }

    private Expression enclosed(Token token) {
        if (token.is("(")) {
            var inner = tokens.current().is(")") ? new Expression.Items(List.of(), true) : expressions.tuple(true);
            tokens.expect(")");
            return inner;
        }
        if (token.is("[")) {
            return new Expression.Items(list(), false);
        }
        if (token.is("{")) {
            return dict();
        }
        throw token.unexpected();
    }

    private List<Expression> list() {
        var items = new ArrayList<Expression>();
        while (!tokens.skip("]")) {
            items.add(expressions.expression());
            if (!tokens.current().is("]")) {
                tokens.expect(",");
            }
        }
        return items;
    }

    private Expression dict() {
        var keys = new ArrayList<Expression>();
        var values = new ArrayList<Expression>();
        while (!tokens.skip("}")) {
            keys.add(expressions.expression());
            tokens.expect(":");
            values.add(expressions.expression());
            if (!tokens.current().is("}")) {
                tokens.expect(",");
            }
        }
        return new Expression.Pairs(keys, values);
    }

    Expression postfix(Expression start) {
        var value = start;
        while (true) {
            if (tokens.skip(".")) {
                var name = tokens.next();
                if (name.kind() != Kind.NAME && name.kind() != Kind.INTEGER) {
                    throw JinjaException.at(name.line(), "expected name or number");
                }
                value = name.kind() == Kind.NAME
                        ? new Expression.Attribute(value, name.text())
                        : new Expression.Item(value, new Expression.Constant(Numbers.parse(name.text())));
            } else if (tokens.skip("[")) {
                value = subscript(value);
            } else if (tokens.current().is("(")) {
                value = new Expression.Call(value, arguments());
            } else {
                return value;
            }
        }
    }

    private Expression subscript(Expression of) {
        var from = tokens.current().is(":") ? NOTHING : expressions.expression();
        if (tokens.skip("]")) {
            return new Expression.Item(of, from);
        }
        tokens.expect(":");
        var to = tokens.isOneOf(":", "]") ? NOTHING : expressions.expression();
        var by = tokens.skip(":") && !tokens.current().is("]") ? expressions.expression() : NOTHING;
        tokens.expect("]");
        return new Expression.Slice(of, from, to, by);
    }

    Given arguments() {
        tokens.expect("(");
        var positional = new ArrayList<Expression>();
        var named = new LinkedHashMap<String, Expression>();
        @Nullable Expression more = null;
        @Nullable Expression moreNamed = null;
        while (!tokens.skip(")")) {
            if (tokens.skip("*")) {
                more = expressions.expression();
            } else if (tokens.skip("**")) {
                moreNamed = expressions.expression();
            } else if (tokens.current().kind() == Kind.NAME
                    && tokens.following().is("=")) {
                String name = tokens.name();
                tokens.expect("=");
                named.put(name, expressions.expression());
            } else if (named.isEmpty()) {
                positional.add(expressions.expression());
            } else {
                throw JinjaException.at(tokens.current().line(), "invalid syntax for function call expression");
            }
            if (!tokens.current().is(")")) {
                tokens.expect(",");
            }
        }
        return new Given(positional, named, more, moreNamed);
    }
}
