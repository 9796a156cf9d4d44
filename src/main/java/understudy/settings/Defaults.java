package understudy.settings;

/** Every setting with its default. */
public final class Defaults {
    /**
     * A name of our own: the {@code reference.conf} of another project says nothing about an emulation, nor ours about
     * it.
     */
    public static final String RESOURCE = "understudy-defaults.conf";

    /** Every setting with its default. */
    public static final Section SCENARIO = Hocon.defaults(RESOURCE);

    private Defaults() {}
}
