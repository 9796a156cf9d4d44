/**
 * Search for defects: draws scenarios from a seed, checks what must hold of every one, and makes those that fail smaller.
 *
 * <p>Start with {@link understudy.fuzz.Fuzzer}. A new law is a {@link understudy.fuzz.Check}.
 */
@NullMarked
package understudy.fuzz;

import org.jspecify.annotations.NullMarked;
