/** Deployments as files: the servers of a scenario as commands, and as what starts them in containers. */
@NullMarked
package understudy.app.emit;

import org.jspecify.annotations.NullMarked;
