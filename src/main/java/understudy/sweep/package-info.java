/**
 * Many runs of scenarios whose settings vary: all combinations, or a search for the best value of one, on all cores, and
 * resumable.
 */
@NullMarked
package understudy.sweep;

import org.jspecify.annotations.NullMarked;
