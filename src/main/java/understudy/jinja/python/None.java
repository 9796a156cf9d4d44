package understudy.jinja.python;

/** Python's {@code None}, so that no value is null. */
public enum None {
    NONE;

    @Override
    public String toString() {
        return "None";
    }
}
