package understudy.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.pekko.actor.typed.ActorRef;
import understudy.cluster.device.GpuModel;
import understudy.cluster.guardian.Guardian;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.cluster.router.RouterActor;
import understudy.engine.Request;
import understudy.faults.ClusterChange;
import understudy.faults.CrashRetries;
import understudy.faults.FaultPlan;
import understudy.host.Actors;
import understudy.kvcache.connector.NixlSpec;
import understudy.report.RunRecord;
import understudy.routing.DisaggregationSpec;
import understudy.routing.PrefillEstimate;
import understudy.routing.ReplicaTraits;
import understudy.routing.Role;
import understudy.routing.RouterSpec;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.Wire;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.policy.RoundRobin;
import understudy.testkit.VirtualTimeTestKit;
import understudy.transfer.KvLease;
import understudy.transfer.KvTransferSpec;
import understudy.transfer.KvTransferSpecBuilder;
import understudy.transfer.LinkSpec;
import understudy.transfer.PortGroup;
import understudy.transfer.TransferCost;
import understudy.workload.RandomStreams;

/**
 * Cluster whose replicas compute prompts or answer, driven by hand. Steps take 5 ms. A transfer takes 1 ms before its
 * bytes, 1 ms for each block of 16 tokens, and 1 ms for the news of its end; the first one between two replicas 4 ms more.
 */
final class PrefillDecodeFixture implements AutoCloseable {
    static final long MILLI = 1_000_000;
    private static final long BYTES_PER_BLOCK = 1_000_000;
    private static final long BYTES_PER_SECOND = 1_000_000_000;

    final ClusterFixture replicas = new ClusterFixture();
    int numPrefill = 1;
    int numDecode = 1;
    boolean failsOnLoadFailure = true;
    boolean failsStaleReads = true;
    boolean notifiesOnReject = true;
    boolean decodesLocally;
    KvLease lease = KvLease.VLLM;
    CrashRetries retries = CrashRetries.NONE;
    RoutingPolicyFactory prefillPolicy = RoundRobin.FACTORY;
    int numBlocksOfDecode = 10_000;

    private final VirtualTimeTestKit kit = VirtualTimeTestKit.create();
    private final VirtualTimeTestKit.Inbox<RequestEvent> client = kit.createInbox(RequestEvent.class);
    private final List<RunRecord> ended = new ArrayList<>();
    private ActorRef<Router.Command> router;
    private ActorRef<Cluster.Command> cluster;

    private final class Observing implements Cluster.Observer {
        @Override
        public void onStarted(ActorRef<Router.Command> started) {
            router = started;
        }

        @Override
        public void onEnded(RunRecord run) {
            ended.add(run);
        }

        @Override
        public void onFailed(Throwable cause) {
            throw new AssertionError(cause);
        }
    }

    KvTransferSpec transfers() {
        var nic = PortGroup.of(BYTES_PER_SECOND, BYTES_PER_SECOND);
        return KvTransferSpecBuilder.builder()
                .hostLink(new LinkSpec(List.of(nic), TransferCost.NONE, 1000 * MILLI))
                .hostBytesPerBlock(BYTES_PER_BLOCK)
                .nic(nic)
                .networkBytesPerBlock(BYTES_PER_BLOCK)
                .chunkBytes(BYTES_PER_BLOCK)
                .descriptorsPerBlock(1)
                .networkCost(new TransferCost(4 * MILLI, MILLI, 0, MILLI))
                .networkTimeoutNanos(1000 * MILLI)
                .lease(lease)
                .failsOnLoadFailure(failsOnLoadFailure)
                .failsStaleReads(failsStaleReads)
                .notifiesOnReject(notifiesOnReject)
                .build();
    }

    private ReplicaSpec replica(Role role) {
        replicas.numBlocks = role == Role.PREFILL ? 10_000 : numBlocksOfDecode;
        var plain = replicas.replicaSpec();
        var connected = plain.engine().withConnector(new NixlSpec(true, replicas.isAsync));
        return ReplicaSpec.of(connected, KvBlockManagerActor::create, GpuModel.of(replicas.latency))
                .withApiDelay(replicas.apiDelay)
                .withTraits(new ReplicaTraits(role.name(), 1, replicas.numBlocks, PrefillEstimate.perToken(0), role))
                .withTransfers(transfers());
    }

    private ClusterSpec spec() {
        var all = new ArrayList<ReplicaSpec>();
        for (int i = 0; i < numPrefill + numDecode; i++) {
            all.add(replica(i < numPrefill ? Role.PREFILL : Role.DECODE));
        }
        var disaggregation =
                new DisaggregationSpec(DisaggregationSpec.Decider.ALWAYS, 0, 0, 0, decodesLocally, prefillPolicy);
        var streams = new RandomStreams(0);
        var routing = new RouterSpec(
                RoundRobin.FACTORY, Wire.EXACT, AdmissionSpec.OPEN.signals(), streams, 0, disaggregation);
        var faults = new FaultPlan(List.of(), retries, 0, streams);
        return new ClusterSpec(
                Actors.STANDARD,
                all,
                List.of(all.get(0), all.get(numPrefill)),
                routing,
                AdmissionSpec.OPEN,
                null,
                faults,
                true);
    }

    void start() {
        cluster = kit.spawn(Guardian.create(kit.clock(), new Observing()), "cluster");
        cluster.tell(new Cluster.Start(spec()));
        kit.settle();
    }

    /** Starts a router alone, and returns what it sends to the replica that computes prompts. */
    VirtualTimeTestKit.Inbox<Replica.Command> startRouter() {
        var metrics = kit.createInbox(MetricsCollector.Command.class);
        var prefill = kit.createInbox(Replica.Command.class);
        var decode = kit.createInbox(Replica.Command.class);
        var spec = spec();
        router = kit.spawn(RouterActor.create(kit.clock(), spec, metrics.ref(), null), "router");
        router.tell(new Router.ReplicaUp(0, prefill.ref(), spec.replica(0).traits()));
        router.tell(new Router.ReplicaUp(1, decode.ref(), spec.replica(1).traits()));
        return prefill;
    }

    void submit(Request request) {
        router.tell(new Router.Submit(request, client.ref(), true));
    }

    void abort(long requestId) {
        router.tell(new Router.Abort(requestId));
    }

    void change(ClusterChange change) {
        cluster.tell(new Cluster.InjectLater(Duration.ZERO, change));
    }

    /** Lets everything up to this time happen. */
    void until(double millis) {
        kit.advance(Duration.ofNanos(Math.round(millis * MILLI) - kit.nowNanos()));
    }

    /** Returns the times at which a client got the tokens of a request, in milliseconds. */
    List<Long> tokenMillis(long requestId) {
        return client.received().stream()
                .filter(received ->
                        received.message() instanceof RequestEvent.Token token && token.requestId() == requestId)
                .map(received -> received.atNanos() / MILLI)
                .toList();
    }

    /** Returns how a request has ended, which must have happened once. */
    RequestEvent end(long requestId) {
        var ends = client.messages().stream()
                .filter(event -> event.requestId() == requestId)
                .filter(event -> !(event instanceof RequestEvent.Admitted || event instanceof RequestEvent.Token))
                .toList();
        if (ends.size() != 1) {
            throw new AssertionError("request " + requestId + " has the ends " + ends);
        }
        return ends.get(0);
    }

    boolean hasEnded(long requestId) {
        return client.messages().stream()
                .anyMatch(event -> event.requestId() == requestId
                        && !(event instanceof RequestEvent.Admitted || event instanceof RequestEvent.Token));
    }

    /** Returns whether a replica's process has not ended. */
    boolean isThere(int replica) {
        var hashes = kit.createInbox(KvBlockManager.BlockHashes.class);
        cluster.tell(new Cluster.GetBlockHashes(replica, hashes.ref()));
        kit.settle();
        return !hashes.messages().get(0).hashes().isEmpty();
    }

    /** Interrupts the run, and returns its record. */
    RunRecord stop() {
        cluster.tell(Cluster.Stop.NOW);
        kit.settle();
        return Objects.requireNonNull(ended.get(0));
    }

    @Override
    public void close() {
        kit.close();
    }
}
