package understudy.cluster;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import understudy.cluster.device.GpuModel;
import understudy.cluster.guardian.Guardian;
import understudy.cluster.memory.KvBlockManagerActor;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.lora.LoraConfig;
import understudy.engine.vllm.SchedulerConfig;
import understudy.engine.vllm.VllmSpec;
import understudy.faults.CrashRetries;
import understudy.faults.FaultPlan;
import understudy.host.Actors;
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

    public BlockHasher hasher = new Xxh3BlockHasher(16);
    public FullHit fullHit = FullHit.RECOMPUTE_LAST_TOKEN;
    public boolean cachesGeneratedBlocks = true;
    public SessionMode sessions = SessionMode.OFF;
    public GlobalPrefixLimits globalPrefixes = GlobalPrefixLimits.OFF;
    public EvictionPolicy evictionPolicy = EvictionPolicy.LRU;
    public boolean promotesFullBlocks;
    public ContextOverflow contextOverflow = ContextOverflow.REJECT;
    public int numReplicas = 1;
    public int numBlocks = 10_000;
    public int maxNumSeqs = 256;
    public int maxNumBatchedTokens = 2048;
    public int maxModelLen = 20_000;
    public boolean isAsync;
    public int prefillScheduleInterval = 1;
    public boolean sharesWithinStep = true;
    public LoraConfig loras = LoraConfig.NONE;
    public int pipelineParallelSize = 1;
    public ApiDelay apiDelay = ApiDelay.NONE;
    public LatencyModel latency = new LinearLatency(5e6, 0, 0, 0);
    public RoutingPolicyFactory routing = RoundRobin.FACTORY;
    public Wire wire = Wire.EXACT;
    public AdmissionSpec admission = AdmissionSpec.OPEN;
    public FaultPlan faults = FaultPlan.NONE;

    public ReplicaSpec replicaSpec() {
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
        return ReplicaSpec.of(
                        new VllmSpec(scheduler, limits, kvCache), KvBlockManagerActor::create, GpuModel.of(latency))
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
    public static Wire late(Duration kvEventDelay) {
        return new Wire(0, 0, kvEventDelay.toNanos(), 0, OptionalLong.empty());
    }

    /** Returns a router that reads KV events, or does not. */
    public static RouterSpec router(boolean wantsKvEvents) {
        Set<Signal> signals = wantsKvEvents ? Set.of(Signal.KV_EVENTS) : Set.of();
        return RouterSpec.of(new RoutingPolicyFactory("any", signals, cluster -> new RoundRobin()));
    }

    public ClusterSpec spec(Workload workload) {
        var replicas = Collections.nCopies(numReplicas, replicaSpec());
        return new ClusterSpec(
                Actors.STANDARD,
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
                new ClusterSpec(
                        Actors.STANDARD, replicas, List.of(replica), router(), admission, () -> workload, faults, true),
                Double.POSITIVE_INFINITY);
    }

    public static RunRecord run(ClusterSpec spec, double speed) {
        var result = new CompletableFuture<RunRecord>();
        try (var time = VirtualTime.<Cluster.Command>create(
                "cluster", clock -> Guardian.create(clock, new Completing(result)))) {
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
    public static Workload workload(Request... requests) {
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
