/** The kit's own autoscaler: a rule of the house behind HTTP, and wrong ones that break known laws. */
@NullMarked
package understudy.chaos.autoscaler.reference;

import org.jspecify.annotations.NullMarked;
