package understudy.jinja.python;

/** A template that cannot be parsed, or that fails; the message is Jinja's. */
public final class JinjaException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public JinjaException(String message) {
        // No stack trace: the place in the interpreter says nothing about the template.
        super(message, null, false, false);
    }

    public static JinjaException at(int line, String message) {
        return new JinjaException("line " + line + ": " + message);
    }
}
