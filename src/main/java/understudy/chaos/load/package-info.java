/** The client in front of the gateway: calls whose answers are known in advance. */
@NullMarked
package understudy.chaos.load;

import org.jspecify.annotations.NullMarked;
