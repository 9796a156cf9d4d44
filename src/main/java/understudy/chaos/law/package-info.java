/** Laws that a gateway must keep. Each is one pure judgement over the evidence of a scenario. */
@NullMarked
package understudy.chaos.law;

import org.jspecify.annotations.NullMarked;
