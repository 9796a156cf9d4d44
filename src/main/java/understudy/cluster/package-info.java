/**
 * The actors, one per file.
 *
 * <pre>{@code
 *  LoadGenerator --Submit--> Router --Submit--> Replica --Reserve/Admit--> KvBlockManager
 *        ^                   ^    ^               |  ^ <-Reserved/Admission---|  |
 *        |                   |    +-ReplicaLoad---+  +--StepDone-- VirtualGpu    |
 *        |                   +------------KvEvents-------------------------------+
 *        +--Admitted / Tokens / Finished / Rejected / Failed-- (RequestEvent)
 * }</pre>
 *
 * <p>Start with {@link understudy.cluster.Cluster}, then {@link understudy.cluster.Replica}. Actors keep references,
 * call one pure object, set timers and send; decisions are made in the pure packages. All run on one thread, in virtual
 * time.
 */
@NullMarked
package understudy.cluster;

import org.jspecify.annotations.NullMarked;
