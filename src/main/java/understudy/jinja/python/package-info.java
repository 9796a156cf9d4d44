/** Values of chat templates, which are Python's, and what can be done with them. Pure: no clock, no thread, no file. */
@NullMarked
package understudy.jinja.python;

import org.jspecify.annotations.NullMarked;
