/** The emulated cluster behind an autoscaler, which follows the number of wanted replicas, and its load. */
@NullMarked
package understudy.chaos.autoscaler.fleet;

import org.jspecify.annotations.NullMarked;
