/**
 * The edge: what clients, gateways and dashboards see of a cluster: an OpenAI-compatible server as vLLM's, KV events,
 * and control. It translates and nothing else: requests go to the cluster's router by {@code tell}, and tokens come
 * back by {@code tell}.
 *
 * <p>It runs in an ordinary actor system of its own, on wall-clock time; the cluster never waits for it.
 */
@NullMarked
package understudy.api;

import org.jspecify.annotations.NullMarked;
