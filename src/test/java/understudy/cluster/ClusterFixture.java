package understudy.cluster;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.lora.LoraConfig;
import understudy.engine.vllm.SchedulerConfig;
import understudy.engine.vllm.VllmSpec;
import understudy.faults.CrashRetries;
import understudy.faults.FaultPlan;
import understudy.kvcache.BlockCacheSpec;
import understudy.kvcache.FullHit;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.content.ContentConfig;
import understudy.kvcache.content.ContentConfigBuilder;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.kvcache.session.GlobalPrefixLimits;
import understudy.kvcache.session.SessionConfig;
import understudy.kvcache.session.SessionMode;
import understudy.latency.ApiDelay;
import understudy.latency.LatencyModel;
import understudy.latency.LinearLatency;
import understudy.prompt.BlockHasher;
import understudy.prompt.Xxh3BlockHasher;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.routing.RouterSpec;
import understudy.routing.RoutingPolicyFactory;
import understudy.routing.Signal;
import understudy.routing.Wire;
import understudy.routing.admission.AdmissionSpec;
import understudy.routing.policy.RoundRobin;
import understudy.runtime.VirtualTime;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;

/** Builds clusters for tests and runs workloads on them. */
public final class ClusterFixture {
    /** Requests without a token go to another replica; thrice at most. */
    static final CrashRetries REROUTE = new CrashRetries(CrashRetries.OnCrash.REROUTE, 3);

    /** All requests go on at another replica; thrice at most. */
    static final CrashRetries RESUME = new CrashRetries(CrashRetries.OnCrash.RESUME, 3);

    BlockHasher hasher = new Xxh3BlockHasher(16);
    public FullHit fullHit = FullHit.RECOMPUTE_LAST_TOKEN;
    boolean cachesGeneratedBlocks = true;
    public SessionMode sessions = SessionMode.OFF;
    public GlobalPrefixLimits globalPrefixes = GlobalPrefixLimits.OFF;
    EvictionPolicy evictionPolicy = EvictionPolicy.LRU;
    boolean promotesFullBlocks;
    ContextOverflow contextOverflow = ContextOverflow.REJECT;
    int numReplicas = 1;
    int numBlocks = 10_000;
    int maxNumSeqs = 256;
    int maxNumBatchedTokens = 2048;
    int maxModelLen = 20_000;
    public boolean isAsync;
    int prefillScheduleInterval = 1;
    boolean sharesWithinStep = true;
    LoraConfig loras = LoraConfig.NONE;
    int pipelineParallelSize = 1;
    ApiDelay apiDelay = ApiDelay.NONE;
    public LatencyModel latency = new LinearLatency(5e6, 0, 0, 0);
    RoutingPolicyFactory routing = RoundRobin.FACTORY;
    Wire wire = Wire.EXACT;
    AdmissionSpec admission = AdmissionSpec.OPEN;
    FaultPlan faults = FaultPlan.NONE;

    ReplicaSpec replicaSpec() {
        var scheduler = SchedulerConfig.VLLM
                .with()
                .maxNumSeqs(maxNumSeqs)
                .maxNumBatchedTokens(maxNumBatchedTokens)
                .asyncScheduling(isAsync)
                .prefillScheduleInterval(prefillScheduleInterval)
                .loras(loras)
                .pipelineParallelSize(pipelineParallelSize)
                .build();
        var kvCache = kvCache();
        var limits = new RequestLimits(maxModelLen, kvCache.maxTokens(), contextOverflow, hasher.blockSize());
        return ReplicaSpec.of(new VllmSpec(scheduler, limits, kvCache), VirtualGpu.Factory.of(latency))
                .withApiDelay(apiDelay)
                .withKeepsTokenTimes(true);
    }

    private BlockCacheSpec kvCache() {
        var blocks = KvBlocks.of(hasher, numBlocks).withMaxModelLen(maxModelLen);
        return sessions == SessionMode.OFF
                ? contentOf(blocks)
                : new SessionConfig(blocks, sharesWithinStep, sessions, globalPrefixes, fullHit);
    }

    private ContentConfig contentOf(KvBlocks blocks) {
        return ContentConfigBuilder.builder()
                .blocks(blocks)
                .freeBlocks(new FreeBlocks(evictionPolicy, FreeOrder.UNHASHED_FIRST))
                .promotesFullBlocks(promotesFullBlocks)
                .sharesWithinStep(sharesWithinStep)
                .fullHit(fullHit)
                .cachesGeneratedBlocks(cachesGeneratedBlocks)
                .build();
    }

    private RouterSpec router() {
        return new RouterSpec(routing, wire, admission.signals(), new RandomStreams(0));
    }

    /** Returns a wire on which KV events are late. */
    static Wire late(Duration kvEventDelay) {
        return new Wire(0, 0, kvEventDelay.toNanos(), 0, OptionalLong.empty());
    }

    /** Returns a router that reads KV events, or does not. */
    static RouterSpec router(boolean wantsKvEvents) {
        Set<Signal> signals = wantsKvEvents ? Set.of(Signal.KV_EVENTS) : Set.of();
        return RouterSpec.of(new RoutingPolicyFactory("any", signals, cluster -> new RoundRobin()));
    }

    ClusterSpec spec(Workload workload) {
        var replicas = Collections.nCopies(numReplicas, replicaSpec());
        return new ClusterSpec(
                replicas,
                List.of(replicaSpec()),
                router(),
                admission,
                workload == null ? null : () -> workload,
                faults,
                true);
    }

    /** Runs a workload to its end, as fast as possible. */
    public RunRecord run(Workload workload) {
        return run(workload, Double.POSITIVE_INFINITY);
    }

    public RunRecord run(Workload workload, double speed) {
        return run(spec(workload), speed);
    }

    /** Runs a workload on replicas of another kind, as fast as possible. */
    public RunRecord run(Workload workload, ReplicaSpec replica) {
        var replicas = Collections.nCopies(numReplicas, replica);
        return run(
                new ClusterSpec(replicas, List.of(replica), router(), admission, () -> workload, faults, true),
                Double.POSITIVE_INFINITY);
    }

    static RunRecord run(ClusterSpec spec, double speed) {
        var result = new CompletableFuture<RunRecord>();
        try (var time = VirtualTime.<Cluster.Command>create(
                "cluster", clock -> Cluster.create(clock, new Completing(result)))) {
            time.onIdle(() -> result.completeExceptionally(new AssertionError("stalled")));
            time.system().tell(new Cluster.Start(spec));
            time.run(speed);
            return result.join();
        }
    }

    public static List<RequestRecord> requests(RunRecord run) {
        return IntStream.range(0, run.requests().size())
                .mapToObj(run.requests()::get)
                .toList();
    }

    /** Requests written down by hand, in order of arrival. */
    static Workload workload(Request... requests) {
        return new ListWorkload(List.of(requests));
    }

    private record Completing(CompletableFuture<RunRecord> result) implements Cluster.Observer {
        @Override
        public void onEnded(RunRecord run) {
            result.complete(run);
        }

        @Override
        public void onFailed(Throwable cause) {
            result.completeExceptionally(cause);
        }
    }
}
