/**
 * The actors: their messages, one file for each of them, their specifications and their events.
 *
 * <pre>{@code
 *  LoadGenerator --Submit--> Router --AddRequest--> Replica --Ask--> KvBlockManager ---StepEnded---> Subscriber
 *        ^                   ^    ^                  |  ^ <-Answered--|  |
 *        |                   |    +----ReplicaProgress+  +--StepDone-- VirtualGpu
 *        |                   +--------------KvEvents----------------------+
 *        +--Admitted / Token / Finished / Rejected / Failed-- (RequestEvent)
 * }</pre>
 *
 * <p>Start with {@link understudy.cluster.Cluster}, then {@link understudy.cluster.Replica}. How the actors behave is
 * in the rooms below, which only factories know: {@code router}, {@code replica}, {@code memory}, {@code device},
 * {@code guardian}, and {@code run} for what a run adds. Actors keep references, call one pure object, set timers and
 * send; decisions are made in the pure packages. All run on one thread, in virtual time.
 */
@NullMarked
package understudy.cluster;

import org.jspecify.annotations.NullMarked;
