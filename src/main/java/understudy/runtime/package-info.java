/**
 * Event loop and clock that run the same actors in two ways: as fast as possible, or paced by the wall clock.
 *
 * <p>Start with {@link understudy.runtime.VirtualTime}, which couples an actor system to one {@code EventLoop}: a
 * ready queue of mailboxes and a heap of timers, on one thread. Only this package reads the machine's clock.
 */
@NullMarked
package understudy.runtime;

import org.jspecify.annotations.NullMarked;
