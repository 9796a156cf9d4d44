/** Processes of what is under test. */
@NullMarked
package understudy.chaos.process;

import org.jspecify.annotations.NullMarked;
