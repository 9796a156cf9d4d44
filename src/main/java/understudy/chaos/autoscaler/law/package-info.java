/** Laws that an autoscaler must keep. Each is one pure judgement over the evidence of a scenario. */
@NullMarked
package understudy.chaos.autoscaler.law;

import org.jspecify.annotations.NullMarked;
