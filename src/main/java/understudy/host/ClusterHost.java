package understudy.host;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;
import understudy.cluster.Cluster;
import understudy.cluster.ClusterEvent;
import understudy.cluster.ClusterSpec;
import understudy.cluster.Router;
import understudy.cluster.guardian.Guardian;
import understudy.report.RunRecord;
import understudy.runtime.VirtualTime;

/**
 * A cluster that gets its requests from outside, in a virtual time of its own: starts it, and tells those outside where
 * requests go, how it has ended, and why it has failed. The clock stands still until it is started. Thread-safe.
 */
public final class ClusterHost implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final CompletableFuture<ActorRef<Router.Command>> router = new CompletableFuture<>();
    private final CompletableFuture<RunRecord> end = new CompletableFuture<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private final AtomicLong numReplies = new AtomicLong();
    private final VirtualTime<Cluster.Command> time;
    private volatile boolean isClosing;

    private ClusterHost(String name) {
        time = VirtualTime.create(name, clock -> FailureReport.of(Guardian.create(clock, new Watching()), this::fail));
        time.whenStopped().whenComplete((done, error) -> {
            if (error != null) {
                fail(error);
            }
        });
        time.system().getWhenTerminated().whenComplete((done, error) -> {
            if (!isClosing) {
                fail(new IllegalStateException("the emulation has ended by itself"));
            }
        });
    }

    /** Creates a host at virtual time 0, without a cluster; {@code name} is that of its thread. */
    public static ClusterHost create(String name) {
        return new ClusterHost(name);
    }

    /**
     * Builds the cluster, and returns when it takes requests; to be called once.
     *
     * @param subscriber receives the cluster's events, or null
     */
    public void start(ClusterSpec spec, ClusterEvent.@Nullable Subscriber subscriber) {
        start(new Cluster.Start(spec, subscriber));
    }

    /** Builds a cluster likewise. */
    public void start(Cluster.Start start) {
        time.system().tell(start);
        CompletableFuture.anyOf(router, failure)
                .orTimeout(START_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    /** Returns the clock and the actor system. */
    public VirtualTime<Cluster.Command> time() {
        return time;
    }

    /** Returns where requests go, once the cluster has started. */
    public ActorRef<Router.Command> router() {
        return router.join();
    }

    /** Completes, with an error, if the emulation fails. */
    public CompletableFuture<Void> whenFailed() {
        return failure;
    }

    /** Throws the failure that has ended the emulation, if any. */
    public void throwFailure() {
        if (failure.isDone()) {
            failure.join();
        }
    }

    /** Reports that a part of the emulation, or of what belongs to it, has failed. The first cause counts. */
    public void fail(Throwable cause) {
        failure.completeExceptionally(cause);
    }

    /** Starts an actor on the loop, beside the cluster; the name must be new. If it fails, so does the emulation. */
    public <T> ActorRef<T> spawn(Behavior<T> behavior, String name) {
        return spawn(time.system(), behavior, name);
    }

    /** Starts an actor that serves the cluster in some actor system; if it fails, so does the emulation. */
    public <T> ActorRef<T> spawn(ActorSystem<?> system, Behavior<T> behavior, String name) {
        return system.systemActorOf(FailureReport.of(behavior, this::fail), name, Props.empty());
    }

    /**
     * Asks the guardian, and waits for the answer, with nothing but the wall clock running if the virtual one stands
     * still.
     */
    public <T> T ask(Function<ActorRef<T>, ? extends Cluster.Command> question) {
        return ask(time.system(), question);
    }

    /** Asks an actor of the emulation; throws the failure that has ended the emulation if there will be no answer. */
    public <Q, T> T ask(ActorRef<Q> to, Function<ActorRef<T>, ? extends Q> question) {
        var answer = new CompletableFuture<T>();
        Behavior<T> receiver = Behaviors.receiveMessage(message -> {
            answer.complete(message);
            return Behaviors.stopped();
        });
        to.tell(question.apply(spawn(receiver, "reply-" + numReplies.getAndIncrement())));
        return await(answer);
    }

    /** Ends the run with all its requests, and returns its result. */
    public RunRecord stop() {
        time.system().tell(Cluster.Stop.NOW);
        return await(end);
    }

    private <T> T await(CompletableFuture<T> answer) {
        CompletableFuture.anyOf(answer, failure).join();
        // An answer may have come all the same; the failure takes precedence, whichever was faster.
        throwFailure();
        return answer.join();
    }

    @Override
    public void close() {
        isClosing = true;
        time.close();
    }

    /** Observer of the cluster's guardian; it is called on the loop's thread. */
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
