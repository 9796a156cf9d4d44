/**
 * The edge: what clients, gateways and dashboards see of a cluster. It translates and decides nothing, and runs outside of the
 * emulation's thread: the cluster tells it what happens and never waits for it.
 */
@NullMarked
package understudy.api;

import org.jspecify.annotations.NullMarked;
