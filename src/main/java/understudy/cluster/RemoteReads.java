package understudy.cluster;

import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import understudy.kvcache.connector.TransferJob;
import understudy.runtime.Clock;
import understudy.transfer.KvLease;

/** Other replicas that hold the KV of requests here, which have to be told that it is still wanted, or no longer. */
final class RemoteReads {
    private final ActorContext<KvBlockManager.Command> context;
    private final Clock clock;
    private final KvLease lease;
    private final Long2ObjectLinkedOpenHashMap<ActorRef<Replica.Command>> holders =
            new Long2ObjectLinkedOpenHashMap<>();
    private boolean isBeating;

    RemoteReads(ActorContext<KvBlockManager.Command> context, Clock clock, KvLease lease) {
        this.context = context;
        this.clock = clock;
        this.lease = lease;
    }

    /** A request has come whose KV another replica holds. */
    void expect(long requestId, ActorRef<Replica.Command> holder) {
        holders.put(requestId, holder);
        context.watch(holder);
        beatLater();
    }

    /** Asks the other replica whether it still has what is to be read; returns whether that is known. */
    boolean begin(TransferJob job) {
        var holder = holders.get(job.requestId());
        if (holder != null) {
            holder.tell(new Replica.ForMemory(new KvTransfers.Read(job.requestId(), job.job(), context.getSelf())));
        }
        return holder != null;
    }

    /** Tells the other replica that its blocks are not needed any more. */
    void end(long requestId) {
        var holder = holders.remove(requestId);
        if (holder != null) {
            holder.tell(new Replica.ForMemory(new KvTransfers.ReadEnded(requestId)));
        }
    }

    /** Forgets what another replica holds for a request that will never read it, whether it is told of that or not. */
    void drop(long requestId) {
        holders.remove(requestId);
    }

    boolean areOver() {
        return holders.isEmpty();
    }

    /** Returns which reads from a replica that has died are lost, and forgets all that it held. */
    List<TransferJob> lost(ActorRef<?> holder, Collection<TransferJob> running) {
        var lost = new ArrayList<TransferJob>();
        for (var job : running) {
            if (job.kind() == TransferJob.Kind.READ && holder.equals(holders.get(job.requestId()))) {
                lost.add(job);
            }
        }
        holders.values().removeIf(holder::equals);
        return lost;
    }

    /** Renews all leases. */
    void onBeatDue() {
        isBeating = false;
        var byHolder = new LinkedHashMap<ActorRef<Replica.Command>, LongArrayList>();
        holders.long2ObjectEntrySet()
                .forEach(entry -> byHolder.computeIfAbsent(entry.getValue(), any -> new LongArrayList())
                        .add(entry.getLongKey()));
        byHolder.forEach((holder, ids) ->
                holder.tell(new Replica.ForMemory(new KvTransfers.Heartbeat(new LongImmutableList(ids)))));
        beatLater();
    }

    private void beatLater() {
        if (!isBeating && lease.hasHeartbeats() && !holders.isEmpty()) {
            isBeating = true;
            clock.tellAfter(lease.heartbeatNanos(), context.getSelf(), KvTransfers.BeatDue.NOW);
        }
    }
}
