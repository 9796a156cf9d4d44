package understudy.cluster;

import it.unimi.dsi.fastutil.longs.LongList;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.link.KvStore;
import understudy.cluster.link.KvStoreSpec;
import understudy.cluster.link.KvTier;
import understudy.cluster.link.Link;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.cluster.replica.RunningReplica;
import understudy.engine.Request;
import understudy.faults.ReplicaOrder;
import understudy.faults.RequestFault;
import understudy.host.Actors;
import understudy.kvcache.connector.KvTransferParams;
import understudy.kvcache.connector.TierStats;
import understudy.kvcache.tier.OffloadingSpec;
import understudy.kvcache.tier.TierAudit;
import understudy.kvcache.tier.TierSpec;
import understudy.report.transfers.KvTraffic;
import understudy.testkit.VirtualTimeTestKit;
import understudy.testkit.VirtualTimeTestKit.Inbox;
import understudy.transfer.KvLease;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.KvTransferSpecBuilder;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.TransferCost;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;

/**
 * Replicas with host memory, a store and a network that they have together, driven by hand. Steps take 5 ms. A block of
 * 16 tokens takes 1 ms between GPU and host, 2 ms between host and store, which answers after 3 ms what it has, and 4 ms
 * over the network.
 */
final class OffloadingFixture implements AutoCloseable {
    static final long MILLI = 1_000_000;
    static final long BYTES_PER_BLOCK = 1_000_000;
    private static final long BYTES_PER_SECOND = 1_000_000_000;

    final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
    final ClusterFixture replicas = new ClusterFixture();
    int numHostBlocks = 100;
    int numStoreBlocks = 100;
    boolean hasStore = true;

    /** Whether each replica has a disk of its own before the store, as large and as fast. */
    boolean hasDisk;

    private final Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);
    private final Inbox<Router.Command> router = kit.createInbox(Router.Command.class);
    private final Inbox<MetricsCollector.Command> metrics = kit.createInbox(MetricsCollector.Command.class);
    private KvStore store;
    private ActorRef<Link.Command> network;

    static KvTransferSpec transfers() {
        var nic = PortGroup.of(BYTES_PER_SECOND, BYTES_PER_SECOND);
        return KvTransferSpecBuilder.builder()
                .hostLink(new LinkSpec(List.of(nic), TransferCost.NONE, 1000 * MILLI))
                .hostBytesPerBlock(BYTES_PER_BLOCK)
                .nic(nic)
                .networkBytesPerBlock(BYTES_PER_BLOCK)
                .chunkBytes(4 * BYTES_PER_BLOCK)
                .descriptorsPerBlock(1)
                .networkCost(TransferCost.NONE)
                .networkTimeoutNanos(1000 * MILLI)
                .lease(KvLease.VLLM)
                .failsStaleReads(true)
                .notifiesOnReject(true)
                .build();
    }

    private KvStoreSpec storeSpec(boolean isShared) {
        var ports = PortGroup.of(BYTES_PER_SECOND, BYTES_PER_SECOND);
        var link = new LinkSpec(List.of(ports), TransferCost.NONE, 1000 * MILLI);
        return new KvStoreSpec(TierSpec.of(numStoreBlocks), link, 3 * MILLI, 2 * BYTES_PER_BLOCK, isShared);
    }

    ReplicaSpec replicaSpec() {
        var plain = replicas.replicaSpec();
        var stores = new ArrayList<KvStoreSpec>();
        if (hasDisk) {
            stores.add(storeSpec(false));
        }
        if (hasStore) {
            stores.add(storeSpec(true));
        }
        var host = new OffloadingSpec(TierSpec.of(numHostBlocks), 1, false, replicas.isAsync, false, stores.size());
        var connected = plain.engine().withConnector(host);
        return ReplicaSpec.of(connected, KvBlockManagerActor::create, plain.device())
                .withTransfers(transfers())
                .withStores(stores);
    }

    ClusterSpec spec(Workload workload) {
        var all = Collections.nCopies(replicas.numReplicas, replicaSpec());
        var plain = replicas.spec(workload);
        return new ClusterSpec(
                Actors.STANDARD,
                all,
                List.of(replicaSpec()),
                plain.router(),
                plain.admission(),
                plain.workload(),
                plain.faults(),
                true);
    }

    /** Starts what the replicas have together: before any of them. */
    void start() {
        var random = new RandomStreams(0);
        var spec = storeSpec(true);
        store = new KvStore(
                spec,
                kit.spawn(KvTier.create(kit.clock(), spec), "store"),
                kit.spawn(Link.create(kit.clock(), spec.link(), random.stream("store")), "store-link"));
        var transfers = transfers();
        var links = transfers.network(List.of(transfers.nic(), transfers.nic()));
        network = kit.spawn(Link.create(kit.clock(), links, random.stream("network")), "network");
    }

    ActorRef<Replica.Command> spawn(int index) {
        var peers = ReplicaPeersBuilder.builder()
                .router(router.ref())
                .metrics(metrics.ref())
                .routerSpec(ClusterFixture.router(false))
                .network(network)
                .sharedStore(store)
                .keepsRecords(true)
                .dataParallelGroups(Map.of())
                .build();
        return kit.spawn(RunningReplica.create(kit.clock(), index, replicaSpec(), peers), "replica-" + index);
    }

    ActorRef<Link.Command> storeLink() {
        return store.link();
    }

    ActorRef<Link.Command> network() {
        return network;
    }

    void submit(ActorRef<Replica.Command> replica, Request request) {
        replica.tell(new Replica.AddRequest(request, client.ref(), true));
    }

    /** Submits a request of whose prompt replica 1 may have the beginning in its host's memory. */
    void submit(ActorRef<Replica.Command> replica, Request request, ActorRef<Replica.Command> peer) {
        var fetched = request.withTransfer(request.sampling(), KvTransferParams.kvSource(1));
        replica.tell(new Replica.AddRequest(fetched, client.ref(), true, false, 0, RequestFault.NONE, 0, peer));
    }

    /** Has a replica forget what its GPU holds, which must not be in use. */
    void forgetGpu(ActorRef<Replica.Command> replica) {
        var done = kit.createInbox(Replica.Done.class);
        replica.tell(new Replica.Order(new ReplicaOrder.ResetPrefixCache(false), done.ref()));
        kit.settle();
        if (!done.messages().get(0).isDone()) {
            throw new AssertionError("blocks are in use");
        }
    }

    void until(double millis) {
        kit.advance(Duration.ofNanos(Math.round(millis * MILLI) - kit.nowNanos()));
    }

    /** Returns the times at which a client got the tokens of a request, in milliseconds. */
    List<Long> tokenMillis(long requestId) {
        var times = new ArrayList<Long>();
        for (var received : client.received()) {
            if (received.message() instanceof RequestEvent.Token token && token.requestId() == requestId) {
                times.add(received.atNanos() / MILLI);
            }
        }
        return times;
    }

    /** Returns what the store counts; no replica has this index. */
    TierAudit storeAudit() {
        var audited = kit.createInbox(KvTier.Audited.class);
        store.tier().tell(new KvTier.Audit(-1, LongList.of(), audited.ref()));
        kit.settle();
        return audited.messages().get(0).audit();
    }

    ActorRef<KvTier.Command> store() {
        return store.tier();
    }

    /** Returns the counts of a replica's host memory. */
    TierStats host(ActorRef<Replica.Command> replica) {
        return traffic(replica).tiers().get(0).stats();
    }

    /** Returns how many loads from a replica's host memory have failed. */
    long numFailedLoads(ActorRef<Replica.Command> replica) {
        return traffic(replica).transfers().loads().numFailed();
    }

    private KvTraffic traffic(ActorRef<Replica.Command> replica) {
        var records = kit.createInbox(Replica.Recorded.class);
        replica.tell(new Replica.GetRecord(records.ref()));
        kit.settle();
        return records.messages().get(0).value().stats().transfers().traffic();
    }

    @Override
    public void close() {
        kit.close();
    }
}
