/**
 * Step times of a live server from outside: what to send, which steps show in when tokens come, and the delay before a first
 * token. Pure; whoever sends the requests implements {@link understudy.fidelity.probe.ProbedServer}.
 *
 * <p>Start with {@link understudy.fidelity.probe.Probing}.
 */
@NullMarked
package understudy.fidelity.probe;

import org.jspecify.annotations.NullMarked;
