package understudy.testkit;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.api.KvEventPublisher;
import understudy.app.EmbeddedScenario;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterListeners;
import understudy.cluster.KvBlockManager;
import understudy.cluster.PrefixCacheResets;
import understudy.cluster.Progress;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.OutputScript;
import understudy.engine.Request;
import understudy.engine.SamplingParams;
import understudy.kvcache.Prompt;
import understudy.kvcache.SegmentedTokens;
import understudy.kvcache.SyntheticTokens;
import understudy.report.Invariants;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.runtime.VirtualTime;
import understudy.workload.Fault;
import understudy.workload.ReplicaState;
import understudy.workload.RequestFault;

/**
 * A whole cluster inside a test. Settings are those of a scenario; what they do not say is as in {@code reference.conf}.
 *
 * <pre>{@code
 * try (var cluster = EmulatedCluster.startPaused("cluster.replicas = 2, router.policy = least-outstanding")) {
 *     var first = cluster.submit(1000, 20);
 *     cluster.advance(Duration.ofMillis(100));
 *     cluster.inject(new Fault.Crash(first.replicaIndex()));
 *     var second = cluster.submit(1000, 20);
 *     cluster.advance(Duration.ofSeconds(10));
 *
 *     assertEquals(RequestEvent.FailureCause.CRASH, first.failed().cause());
 *     assertEquals(20, second.finished().numOutputTokens());
 *     cluster.check().hasCompleted(1).hasFailed(1).hasState(0, ReplicaState.DOWN);
 * }
 * }</pre>
 *
 * <p>Paused, the clock moves by {@link #advance} and {@link #step} only, which return when all their consequences have
 * happened, as {@link #inject} does; requests sent in between arrive together. Started, it goes as {@code clock.speed} says: as fast as possible, or paced by the wall clock.
 *
 * <p>May be used by one thread at a time.
 */
public final class EmulatedCluster implements AutoCloseable {
    /** Far above the ids of other senders. */
    private static final long FIRST_REQUEST_ID = 1L << 62;

    private final EmbeddedScenario scenario;
    private final CompletableFuture<ActorRef<Router.Command>> router = new CompletableFuture<>();
    private final CompletableFuture<RunRecord> end = new CompletableFuture<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private final ConcurrentHashMap<Long, EmulatedRequest> requests = new ConcurrentHashMap<>();
    private final AtomicLong numRequests = new AtomicLong();
    private final AtomicLong numReplies = new AtomicLong();
    private final VirtualTime<Cluster.Command> time;
    private final ActorRef<RequestEvent> ear;
    private final @Nullable KvEventPublisher kvEvents;
    private boolean isPaused = true;

    private EmulatedCluster(EmbeddedScenario scenario) {
        this.scenario = scenario;
        kvEvents = scenario.kvEvents()
                .map(settings -> new KvEventPublisher(settings, scenario.numReplicas(), 0))
                .orElse(null);
        time = VirtualTime.create("emulated-cluster", clock -> Cluster.create(clock, new Progress(), new Watching()));
        time.whenStopped().whenComplete((done, error) -> {
            if (error != null) {
                failure.completeExceptionally(error);
            }
        });
        ear = spawn(Behaviors.receiveMessage(this::onEvent), "ear");
        var feed = kvEvents == null ? null : spawn(KvEventPublisher.feed(kvEvents), "kv-events");
        time.system().tell(new Cluster.Start(scenario.clusterSpec(new ClusterListeners(feed, null, null))));
        await(router);
    }

    /** Starts a cluster whose clock runs by itself. */
    public static EmulatedCluster start(Config settings) {
        var cluster = new EmulatedCluster(EmbeddedScenario.of(settings));
        cluster.resume();
        return cluster;
    }

    /** Starts a cluster whose clock runs by itself, from settings in HOCON. */
    public static EmulatedCluster start(String settings) {
        return start(ConfigFactory.parseString(settings));
    }

    /** Starts a cluster at virtual time 0, whose clock stands still. */
    public static EmulatedCluster startPaused(Config settings) {
        return new EmulatedCluster(EmbeddedScenario.of(settings));
    }

    /** Starts a cluster at virtual time 0, whose clock stands still, from settings in HOCON. */
    public static EmulatedCluster startPaused(String settings) {
        return startPaused(ConfigFactory.parseString(settings));
    }

    /** Sends a request whose prompt is like no other one's; its answer has exactly {@code numOutputTokens} tokens. */
    public EmulatedRequest submit(int numPromptTokens, int numOutputTokens) {
        var prompt = SegmentedTokens.EMPTY.append(numRequests.get(), numPromptTokens);
        return submit(new Prompt(prompt), numOutputTokens);
    }

    /** Sends a request whose answer has exactly {@code numOutputTokens} tokens. */
    public EmulatedRequest submit(Prompt prompt, int numOutputTokens) {
        return submit(prompt, SamplingParams.ofMaxTokens(numOutputTokens), RequestFault.NONE);
    }

    /** Sends a request that runs into its limit of tokens, unless the fault ends it before. */
    public EmulatedRequest submit(Prompt prompt, SamplingParams sampling, RequestFault fault) {
        long id = FIRST_REQUEST_ID + numRequests.getAndIncrement();
        var submitted = new EmulatedRequest(id);
        requests.put(id, submitted);
        var output = new OutputScript(new SyntheticTokens(-1 - id), OutputScript.ENDLESS);
        time.post(() -> {
            var request = new Request(id, "", time.nowNanos(), prompt, sampling, 0, output);
            router.join().tell(new Router.Submit(request, ear, true, Router.ANY_REPLICA, fault));
        });
        return submitted;
    }

    /** Gives up a request, wherever it is; nothing happens if it has ended. */
    public void abort(EmulatedRequest request) {
        time.post(() -> router.join().tell(new Router.Abort(request.id())));
        if (isPaused) {
            advance(Duration.ZERO);
        }
    }

    /** Has all replicas forget what they have cached; refused, with false, while any of them holds a block for a request. */
    public boolean resetPrefixCache() {
        return this.<Router.Command, PrefixCacheResets.AllReset>ask(
                        router.join(), ref -> new Router.ResetPrefixCache(false, ref))
                .isDone();
    }

    /** Lets something go wrong; throws {@link IllegalStateException} if it cannot, because a replica is down for instance. */
    public void inject(Fault fault) {
        Optional<String> refusal = this.<Cluster.Injected>ask(ref -> new Cluster.Inject(fault, ref))
                .refusal();
        refusal.ifPresent(why -> {
            throw new IllegalStateException(why);
        });
        if (isPaused) {
            advance(Duration.ZERO);
        }
    }

    /** Returns the state of each replica, by index. */
    public List<ReplicaState> states() {
        return this.<Cluster.Status>ask(Cluster.GetStatus::new).replicas();
    }

    /** Returns the hashes of what a replica has cached, in no particular order; content held twice is there twice. */
    public long[] blockHashes(int replicaIndex) {
        return this.<KvBlockManager.BlockHashes>ask(ref -> new Cluster.GetBlockHashes(replicaIndex, ref))
                .hashes()
                .toLongArray();
    }

    /** Returns the figures so far. */
    public RunReport report() {
        return this.<RunReport>ask(Cluster.GetReport::new);
    }

    /** Begins assertions about the figures so far and the replicas' states. */
    public ClusterCheck check() {
        return new ClusterCheck(report(), states());
    }

    /** Returns the publisher of KV events, with the addresses to subscribe to; empty if the settings ask for none. */
    public Optional<KvEventPublisher> kvEvents() {
        return Optional.ofNullable(kvEvents);
    }

    /** Stops the clock, and runs everything that is due within {@code duration}. */
    public void advance(Duration duration) {
        isPaused = true;
        time.advance(duration);
        throwFailure();
    }

    /** Stops the clock, jumps to the next instant at which something is due, and returns its virtual time in nanoseconds. */
    public long step() {
        isPaused = true;
        long nowNanos = time.step();
        throwFailure();
        return nowNanos;
    }

    /** Stops the clock; messages are still delivered. */
    public void pause() {
        isPaused = true;
        time.pause();
    }

    /** Lets the clock run by itself, as fast as {@code clock.speed} says. */
    public void resume() {
        isPaused = false;
        time.run(scenario.speed());
    }

    /** Returns the virtual time, in nanoseconds since the start. */
    public long nowNanos() {
        return time.nowNanos();
    }

    /**
     * Ends the cluster, requests and all.
     *
     * @throws AssertionError if the emulation has broken one of its own laws, such as the conservation of requests
     */
    @Override
    public void close() {
        try {
            time.system().tell(Cluster.Stop.NOW);
            var broken = Invariants.check(await(end));
            if (!broken.isEmpty()) {
                throw new AssertionError("the emulation has broken its laws: " + broken);
            }
        } finally {
            time.close();
            if (kvEvents != null) {
                kvEvents.close();
            }
        }
    }

    private Behavior<RequestEvent> onEvent(RequestEvent event) {
        var request = requests.get(event.requestId());
        if (request != null) {
            request.onEvent(event);
        }
        return Behaviors.same();
    }

    /** Asks the guardian, with nothing but the wall clock running if the virtual one stands still. */
    private <T> T ask(Function<ActorRef<T>, Cluster.Command> question) {
        return ask(time.system(), question);
    }

    private <Q, T> T ask(ActorRef<Q> to, Function<ActorRef<T>, ? extends Q> question) {
        var answer = new CompletableFuture<T>();
        Behavior<T> receiver = Behaviors.receiveMessage(message -> {
            answer.complete(message);
            return Behaviors.stopped();
        });
        to.tell(question.apply(spawn(receiver, "reply-" + numReplies.getAndIncrement())));
        return await(answer);
    }

    private <T> ActorRef<T> spawn(Behavior<T> behavior, String name) {
        return time.system().systemActorOf(behavior, name, Props.empty());
    }

    /** Waits for an answer; throws what has ended the emulation if there will be none. */
    private <T> T await(CompletableFuture<T> answer) {
        CompletableFuture.anyOf(answer, failure).join();
        return answer.join();
    }

    private void throwFailure() {
        if (failure.isCompletedExceptionally()) {
            failure.join();
        }
    }

    /** Called on the loop. */
    private final class Watching implements Cluster.Observer {
        @Override
        public void onStarted(ActorRef<Router.Command> started) {
            router.complete(started);
        }

        @Override
        public void onEnded(RunRecord run) {
            end.complete(run);
        }

        @Override
        public void onFailed(Throwable cause) {
            failure.completeExceptionally(cause);
        }
    }
}
