package understudy.jinja.python;

/**
 * Value of a name or a member that is not there (jinja2 {@code Undefined}): it prints as nothing, is false and
 * empty, and fails in any other use.
 *
 * @param reason message of that failure
 */
public record Undefined(String reason) {

    public static Undefined name(String name) {
        return new Undefined(Escapes.quoted(name) + " is undefined");
    }

    public static Undefined member(Object of, Object key) {
        String type = Values.typeName(of);
        String owner = of == None.NONE ? "None" : type + " object";
        return new Undefined(
                key instanceof String name
                        ? "'" + owner + "' has no attribute " + Escapes.quoted(name)
                        : owner + " has no element " + Text.repr(key));
    }

    public JinjaException failure() {
        return new JinjaException(reason);
    }

    @Override
    public String toString() {
        return "";
    }
}
