/** Command lines of the engines' servers: tables of flags, the words behind a command, and the scenario that they make. */
@NullMarked
package understudy.app.flags;

import org.jspecify.annotations.NullMarked;
