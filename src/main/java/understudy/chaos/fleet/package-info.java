/** The replicas behind the gateway: an emulated cluster, and the kit's proxy in front of each. */
@NullMarked
package understudy.chaos.fleet;

import org.jspecify.annotations.NullMarked;
