/** Gateways that the conformance kit can judge: by a command, by an address, or inside the kit. */
@NullMarked
package understudy.chaos.gateway;

import org.jspecify.annotations.NullMarked;
