package understudy.jsonsample;

/** Refusal of a schema: it is none, no value satisfies it, or it would take too much work. */
public final class RefusedSchemaException extends RuntimeException {
    private final String path;

    /**
     * Creates a refusal.
     *
     * @param message description of the error, as a sentence for the author of the schema
     * @param path the field with the schema
     */
    RefusedSchemaException(String message, String path) {
        super(message, null, false, false);
        this.path = path;
    }

    /** Returns the field with the schema, as its reader named it. */
    public String path() {
        return path;
    }

    /** Returns the description of the error, as a sentence. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
