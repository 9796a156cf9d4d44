/** Scenarios of autoscalers, built in and of the user. */
@NullMarked
package understudy.chaos.autoscaler.scenario;

import org.jspecify.annotations.NullMarked;
