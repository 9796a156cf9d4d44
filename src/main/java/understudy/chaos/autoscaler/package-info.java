/** Autoscalers that the kit can judge: one that a command starts, and the kit's own. */
@NullMarked
package understudy.chaos.autoscaler;

import org.jspecify.annotations.NullMarked;
