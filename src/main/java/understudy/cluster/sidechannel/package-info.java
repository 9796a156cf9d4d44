/**
 * Words between processes about KV that one keeps for the other, in place of the side channel of vLLM's {@code
 * NixlConnector}. How they get there is the business of whoever runs the cluster.
 */
@NullMarked
package understudy.cluster.sidechannel;

import org.jspecify.annotations.NullMarked;
