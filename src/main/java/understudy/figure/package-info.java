/**
 * Figures that one family of engines has, and others need not have: its engines and memories give them as values, and
 * whoever reports adds them up and shows them without knowing what they mean.
 */
@NullMarked
package understudy.figure;

import org.jspecify.annotations.NullMarked;
