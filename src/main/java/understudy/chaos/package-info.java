/**
 * Conformance kit for gateways, routers and autoscalers: a fleet that misbehaves on purpose behind the gateway under
 * test, a client in front of it, and laws that judge what came back.
 */
@NullMarked
package understudy.chaos;

import org.jspecify.annotations.NullMarked;
