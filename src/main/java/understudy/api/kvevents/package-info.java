/**
 * KV events over ZeroMQ, as vLLM publishes them.
 *
 * <p>Start with {@link understudy.api.kvevents.KvEventPublisher}.
 */
@NullMarked
package understudy.api.kvevents;

import org.jspecify.annotations.NullMarked;
