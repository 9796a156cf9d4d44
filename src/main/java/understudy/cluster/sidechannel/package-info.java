/**
 * Words between processes about KV that one keeps for the other, in place of the side channel of vLLM's {@code
 * NixlConnector}. The host of the cluster carries them.
 */
@NullMarked
package understudy.cluster.sidechannel;

import org.jspecify.annotations.NullMarked;
