/** Console of all commands: outputs, progress on stderr, log level, and Ctrl-C. */
@NullMarked
package understudy.app.console;

import org.jspecify.annotations.NullMarked;
