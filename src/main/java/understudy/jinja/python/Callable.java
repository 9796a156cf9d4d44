package understudy.jinja.python;

/** Callable value: a function, a method bound to its object, or a macro. */
public interface Callable {
    Object call(Arguments arguments);
}
