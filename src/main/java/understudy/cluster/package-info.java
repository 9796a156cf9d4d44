/**
 * The actors, one per file.
 *
 * <pre>{@code
 *  LoadGenerator --Submit--> Router --AddRequest--> Replica --Ask--> KvBlockManager ---StepEnded---> Subscriber
 *        ^                   ^    ^                  |  ^ <-Answered--|  |
 *        |                   |    +----ReplicaProgress+  +--StepDone-- VirtualGpu
 *        |                   +--------------KvEvents----------------------+
 *        +--Admitted / Token / Finished / Rejected / Failed-- (RequestEvent)
 * }</pre>
 *
 * <p>Start with {@link understudy.cluster.Cluster}, then {@link understudy.cluster.Replica}: their messages; what they do is
 * in {@code RunningCluster} and {@code RunningReplica}. Actors keep references, call one pure object, set timers and send; decisions are made in the pure packages. All run on one thread, in virtual
 * time.
 */
@NullMarked
package understudy.cluster;

import org.jspecify.annotations.NullMarked;
