/**
 * Side channel between processes of which one computes prompts and another one answers, over plain HTTP; vLLM's {@code
 * NixlConnector} has ZMQ and NIXL's notifications for the same words.
 */
@NullMarked
package understudy.api.sidechannel;

import org.jspecify.annotations.NullMarked;
