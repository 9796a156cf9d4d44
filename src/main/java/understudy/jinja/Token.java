package understudy.jinja;

import understudy.jinja.python.JinjaException;

/**
 * A token of a template.
 *
 * @param text a name, an operator, a number as it is written, a string without quotes and escapes, or plain text
 * @param line from 1
 */
record Token(Kind kind, String text, int line) {
    /** Kind of token. */
    enum Kind {
        DATA,
        VARIABLE_BEGIN,
        VARIABLE_END,
        BLOCK_BEGIN,
        BLOCK_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    boolean is(String operator) {
        return kind == Kind.OPERATOR && text.equals(operator);
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    JinjaException unexpected() {
        return JinjaException.at(line, "unexpected " + described());
    }

    String described() {
        return switch (kind) {
            case VARIABLE_END -> "'end of print statement'";
            case BLOCK_END -> "'end of statement block'";
            case END -> "'end of template'";
            default -> "'" + text + "'";
        };
    }
}
