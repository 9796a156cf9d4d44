package understudy.jinja.python;

/** What can be called: a function, a method bound to its object, or a macro. */
public interface Callable {
    Object call(Arguments arguments);
}
