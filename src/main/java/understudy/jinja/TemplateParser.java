package understudy.jinja;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.jinja.Statement.Flow;
import understudy.jinja.Token.Kind;
import understudy.jinja.python.JinjaException;

/** Parser of templates: of statements, and of the text between them. */
final class TemplateParser {
    private static final Statement NOTHING = new Statement.Body(List.of());
    private static final Set<String> MACRO_VARIABLES = Set.of("varargs", "kwargs", "caller");
    private static final int MOST_DEPTH = 100;

    private final TokenReader tokens;
    private final ExpressionParser expressions;
    private final List<Statement.Assign> assignments = new ArrayList<>();
    private final List<Statement.For> loops = new ArrayList<>();
    private int depth;
    private int loopDepth;

    TemplateParser(String source) {
        tokens = new TokenReader(Lexer.tokens(source));
        expressions = new ExpressionParser(tokens);
    }

    /** Parses the whole template. */
    Statement parse() {
        return body(Set.of());
    }

    /** Returns all that is set, in the order of the template. */
    List<Statement.Assign> assignments() {
        return assignments;
    }

    /** Returns all loops. */
    List<Statement.For> loops() {
        return loops;
    }

    /** Parses up to one of the tags, which is read as far as its name; the rest of the template if there are none. */
    private Statement body(Set<String> ends) {
        if (++depth > MOST_DEPTH) {
            throw JinjaException.at(tokens.current().line(), "nested too deeply");
        }
        var statements = new ArrayList<Statement>();
        while (tokens.current().kind() != Kind.END) {
            var token = tokens.next();
            if (token.kind() == Kind.DATA) {
                statements.add(new Statement.Data(token.text()));
            } else if (token.kind() == Kind.VARIABLE_BEGIN) {
                statements.add(new Statement.Output(expressions.tuple(true)));
                tokens.expect(Kind.VARIABLE_END, "'end of print statement'");
            } else {
                String name = tokens.expect(Kind.NAME, "a tag name").text();
                if (ends.contains(name)) {
                    depth--;
                    return new Statement.Body(statements);
                }
                statements.add(statement(name, token.line()));
                tokens.expect(Kind.BLOCK_END, "'end of statement block'");
            }
        }
        if (!ends.isEmpty()) {
            throw JinjaException.at(
                    tokens.current().line(), "unexpected end of template, expected one of " + String.join(", ", ends));
        }
        return new Statement.Body(statements);
    }

    /** Parses from the end of a tag up to one of the other tags. */
    private Statement block(String... ends) {
        tokens.expect(Kind.BLOCK_END, "'end of statement block'");
        return body(Set.of(ends));
    }

    private Statement statement(String name, int line) {
        return switch (name) {
            case "if" -> condition();
            case "for" -> loop();
            case "set" -> assignment();
            case "macro" -> macro();
            case "call" -> call();
            case "filter" -> filter();
            case "with" -> with();
            case "generation" -> block("endgeneration");
            case "break" -> leave(Flow.BREAK, line);
            case "continue" -> leave(Flow.CONTINUE, line);
            default -> throw JinjaException.at(line, "the tag '" + name + "' is unknown, or not for chat templates");
        };
    }

    private Statement leave(Flow flow, int line) {
        if (loopDepth == 0) {
            throw JinjaException.at(line, "'break' and 'continue' belong into a loop");
        }
        return new Statement.Leave(flow);
    }

    private Statement condition() {
        var condition = expressions.tuple(false);
        tokens.expect(Kind.BLOCK_END, "'end of statement block'");
        var then = body(Set.of("elif", "else", "endif"));
        return new Statement.If(condition, then, otherwise());
    }

    /** The name of the tag that ended the block before is the token that was read last. */
    private Statement otherwise() {
        return switch (tokens.last().text()) {
            case "elif" -> condition();
            case "else" -> block("endif");
            default -> NOTHING;
        };
    }

    private Statement loop() {
        var target = target(false);
        tokens.expectName("in");
        var items = expressions.tuple(false);
        @Nullable Expression condition = tokens.skipName("if") ? expressions.expression() : null;
        boolean isRecursive = tokens.skipName("recursive");
        loopDepth++;
        var body = block("endfor", "else");
        loopDepth--;
        var otherwise = tokens.last().text().equals("else") ? block("endfor") : NOTHING;
        var loop = new Statement.For(target, items, condition, body, otherwise, isRecursive);
        loops.add(loop);
        return loop;
    }

    private Statement assignment() {
        var target = target(true);
        if (tokens.skip("=")) {
            var assignment = new Statement.Assign(target, expressions.tuple(true));
            assignments.add(assignment);
            return assignment;
        }
        var filters = tokens.current().is("|") ? filters() : (Statement.FilterOf) input -> input;
        return new Statement.AssignBlock(target, block("endset"), filters);
    }

    /** Parses filters, whose input is known only when the template runs. */
    private Statement.FilterOf filters() {
        var input = new Expression.Name("|input");
        var filtered = expressions.filter(input);
        return value -> scope -> {
            var inner = scope.inner();
            inner.set(input.name(), value.evaluate(scope));
            return filtered.evaluate(inner);
        };
    }

    private Statement filter() {
        var filters = filters();
        return new Statement.FilterBlock(block("endfilter"), filters);
    }

    private Target target(boolean mayBeMember) {
        boolean isEnclosed = tokens.skip("(");
        var targets = new ArrayList<Target>();
        boolean isTuple = false;
        do {
            if (!targets.isEmpty()
                    && tokens.current().kind() != Kind.NAME
                    && !tokens.current().is("(")) {
                break;
            }
            targets.add(tokens.current().is("(") ? target(mayBeMember) : variable(mayBeMember));
            isTuple |= tokens.current().is(",");
        } while (tokens.skip(","));
        if (isEnclosed) {
            tokens.expect(")");
        }
        return isTuple ? new Target.Several(targets) : targets.get(0);
    }

    private Target variable(boolean mayBeMember) {
        int line = tokens.current().line();
        String name = tokens.name();
        if (Set.of("true", "false", "none", "True", "False", "None").contains(name)) {
            throw JinjaException.at(line, "can't assign to '" + name + "'");
        }
        return mayBeMember && tokens.skip(".") ? new Target.Member(name, tokens.name()) : new Target.Variable(name);
    }

    private Statement with() {
        var targets = new ArrayList<Target>();
        var values = new ArrayList<Expression>();
        while (tokens.current().kind() != Kind.BLOCK_END) {
            if (!targets.isEmpty()) {
                tokens.expect(",");
            }
            targets.add(variable(false));
            tokens.expect("=");
            values.add(expressions.expression());
        }
        return new Statement.With(targets, values, block("endwith"));
    }

    private Statement macro() {
        String name = tokens.name();
        return new Statement.Define(name, shape(parameters(), "endmacro"));
    }

    private Statement call() {
        var parameters =
                tokens.current().is("(") ? parameters() : new Macro.Shape(List.of(), Map.of(), NOTHING, Set.of());
        int line = tokens.current().line();
        if (!(expressions.expression() instanceof Expression.Call call)) {
            throw JinjaException.at(line, "expected call");
        }
        var block = shape(parameters, "endcall");
        return new Statement.CallBlock(call.function(), call.given(), block);
    }

    private Macro.Shape shape(Macro.Shape parameters, String end) {
        int outside = loopDepth;
        loopDepth = 0;
        int start = tokens.position();
        var body = block(end);
        loopDepth = outside;
        return new Macro.Shape(
                parameters.parameters(), parameters.defaults(), body, tokens.names(start, MACRO_VARIABLES));
    }

    private Macro.Shape parameters() {
        var names = new ArrayList<String>();
        var defaults = new HashMap<String, Expression>();
        tokens.expect("(");
        while (!tokens.skip(")")) {
            if (!names.isEmpty()) {
                tokens.expect(",");
            }
            String name = tokens.name();
            names.add(name);
            if (tokens.skip("=")) {
                defaults.put(name, expressions.expression());
            }
        }
        return new Macro.Shape(names, defaults, NOTHING, Set.of());
    }
}
