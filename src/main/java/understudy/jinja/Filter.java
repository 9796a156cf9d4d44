package understudy.jinja;

import understudy.jinja.python.Arguments;

/** A filter, or a test, which is a filter that answers whether. */
interface Filter {
    Object apply(Object value, Arguments arguments);
}
