package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongList;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import understudy.cluster.link.KvTier;
import understudy.cluster.sidechannel.SideChannel;
import understudy.faults.Fault;
import understudy.kvcache.connector.RemoteKv;
import understudy.transfer.TransferEnded;

/**
 * Messages to a memory about KV on the move: from its links, from the stores behind it, and between the memories of
 * two replicas, of which one reads what the other one has.
 */
public final class KvExchange {

    /** Messages to a memory about transfers; some come from other replicas' memories. */
    public sealed interface Command extends KvBlockManager.Command
            permits OfReads, OfKept, OfStores, OfPushes, AwaitEnd, Moved, SetFault, Lose {}

    /** Asks for {@link Over} as soon as nothing is moved, nor kept for other replicas, nor expected from them. */
    public record AwaitEnd(ActorRef<? super Over> replyTo) implements Command {}

    /** The answer to {@link AwaitEnd}. */
    public enum Over implements Replica.Command {
        NOW
    }

    public record Moved(TransferEnded ended) implements Command {}

    /** The link to host memory has a fault from now on. */
    public record SetFault(Fault.OfLinks fault) implements Command {}

    /** The host memory loses this share of the chunks that are not being moved. */
    public record Lose(double share) implements Command {}

    /** Messages to the memory that reads. */
    public sealed interface OfReads extends Command {}

    /** Another replica holds the KV of a request that has come here: one of this cluster, or one of another process. */
    public record Expect(
            long requestId,
            @Nullable ActorRef<Replica.Command> holder,
            @Nullable RemoteKv remoteKv,
            long prefillNanos) implements OfReads {}

    /** A request that was expected will never be here. */
    public record Unserved(long requestId) implements OfReads {}

    /** A word to another process has been answered, or has not. */
    public record AnsweredOutside(SideChannel.Answer answer) implements OfReads {}

    /** The answer to {@link Read}. */
    public record ReadAnswered(long job, boolean isHeld) implements OfReads {}

    /** The lease on the blocks of a read has ended before the read. */
    public record ReadOutdated(long job) implements OfReads {}

    /** It is time to renew all leases. */
    public enum HeartbeatDue implements OfReads {
        NOW
    }

    /** Messages to the memory whose chunks are moved, or lent. */
    public sealed interface OfStores extends Command {}

    /** Asks which chunks the host's memory of this replica has; they stay until {@link TakeBack}. */
    public record Lend(KvTier.Job job, LongList keys, ActorRef<? super Lent> replyTo) implements OfStores {}

    /** The answer to {@link Lend}. */
    public record Lent(long job, LongList keys) implements OfStores {}

    /** Ends the use of blocks lent for a job, whether its answer has arrived or not. */
    public record TakeBack(KvTier.Job job) implements OfStores {}

    public record Found(KvTier.Found found) implements OfStores {}

    public record StorePrepared(KvTier.StorePrepared prepared) implements OfStores {}

    public record StoreAudited(KvTier.Audited audited) implements OfStores {}

    /** Messages about kept blocks, most of them from other replicas' memories. */
    public sealed interface OfKept extends Command {}

    /** Another process asks for the blocks kept here for it, or gives them up. */
    public record AskedOutside(Cluster.AskKept ask) implements OfKept {}

    /**
     * Asks whether the blocks of a request are still here, which another replica is going to read. Answered by {@link
     * ReadAnswered}.
     */
    public record Read(long requestId, long job, ActorRef<? super KvBlockManager.Command> replyTo) implements OfKept {}

    /** Another replica has read the blocks of a request, or is not going to. */
    public record ReadEnded(long requestId) implements OfKept {}

    /** Another replica is still going to read the blocks of these requests. */
    public record Heartbeat(LongList requestIds) implements OfKept {}

    /** A lease may have ended. */
    public enum LeaseDue implements OfKept {
        NOW
    }

    /**
     * Messages between two memories of which one pushes KV to the other. A reader asks the one that has the blocks, who
     * knows nothing of it before; here both have the request, and each waits for a word of the other one. So these are
     * announcements, without answers; they name their sender, since it may have been another one before a crash.
     */
    public sealed interface OfPushes extends Command {}

    /** To the memory that pushes: there are places for all of the KV of a request. */
    public record Announced(long requestId, ActorRef<Replica.Command> from) implements OfPushes {}

    /** To the other memory: all of the KV of a request has arrived. */
    public record Pushed(long requestId, ActorRef<Replica.Command> from) implements OfPushes {}

    /** Another process has said something about a request that computes a prompt for it. */
    public record AskedOfPush(SideChannel.Asked asked) implements OfPushes {}

    /** Another process has answered a word about a request that it computes the prompt of. */
    public record AnsweredOfPush(SideChannel.Answer answer) implements OfPushes {}

    /** It is time for a word to another process about a request, unless it has ended. */
    public record PushWordDue(long requestId, SideChannel.Word word) implements OfPushes {}

    /**
     * A request has waited long enough for the other process, unless it has what it waits for.
     *
     * @param afterNanos how long
     */
    public record PushOverdue(long requestId, long afterNanos) implements OfPushes {}

    /** To either memory, from the other one or the router: the other replica does not have the request any more. */
    public record PeerGone(long requestId) implements OfPushes {}

    private KvExchange() {}
}
