package understudy.jinja;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import understudy.jinja.Token.Kind;
import understudy.jinja.python.JinjaException;

/** Reads tokens one by one. */
final class TokenReader {
    private final List<Token> tokens;
    private int position;

    TokenReader(List<Token> tokens) {
        this.tokens = tokens;
    }

    int position() {
        return position;
    }

    /** Returns which of some names stand between a position and the current token. */
    Set<String> names(int start, Set<String> wanted) {
        var found = new TreeSet<String>();
        for (var token : tokens.subList(start, position)) {
            if (token.kind() == Kind.NAME && wanted.contains(token.text())) {
                found.add(token.text());
            }
        }
        return found;
    }

    Token current() {
        return tokens.get(position);
    }

    /** Returns the token that was read last. */
    Token last() {
        return tokens.get(position - 1);
    }

    Token following() {
        return tokens.get(Math.min(position + 1, tokens.size() - 1));
    }

    Token next() {
        var token = current();
        position = Math.min(position + 1, tokens.size() - 1);
        return token;
    }

    boolean isOneOf(String... operators) {
        for (String each : operators) {
            if (current().is(each)) {
                return true;
            }
        }
        return false;
    }

    boolean skip(String operator) {
        boolean isThere = current().is(operator);
        position += isThere ? 1 : 0;
        return isThere;
    }

    boolean skipName(String name) {
        boolean isThere = current().isName(name);
        position += isThere ? 1 : 0;
        return isThere;
    }

    void expect(String operator) {
        if (!skip(operator)) {
            throw expected("'" + operator + "'");
        }
    }

    void expectName(String name) {
        if (!skipName(name)) {
            throw expected("'" + name + "'");
        }
    }

    String name() {
        return expect(Kind.NAME, "a name").text();
    }

    Token expect(Kind kind, String described) {
        if (current().kind() != kind) {
            throw expected(described);
        }
        return next();
    }

    private JinjaException expected(String what) {
        return JinjaException.at(
                current().line(), "expected " + what + ", got " + current().described());
    }
}
