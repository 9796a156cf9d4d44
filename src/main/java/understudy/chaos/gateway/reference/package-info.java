/**
 * Gateway that keeps the laws: the routing policies of the house behind HTTP. With one wrong decision each, it is also
 * the gateways that show that the laws can be broken.
 */
@NullMarked
package understudy.chaos.gateway.reference;

import org.jspecify.annotations.NullMarked;
