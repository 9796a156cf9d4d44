package understudy.runtime;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What one loop thread can do: messages around a ring of three actors, and timer-driven steps through three actors. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class VirtualTimeBenchmark {
    private static final int MESSAGES = 1_000_000;
    private static final int STEPS = 300_000;

    private VirtualTime<Guardian.Start> time;

    @Setup(Level.Trial)
    public void create() {
        time = VirtualTime.create("bench", clock -> Guardian.create());
        time.run(Double.POSITIVE_INFINITY);
    }

    @TearDown(Level.Trial)
    public void close() {
        time.close();
    }

    /** One operation is one message from an actor to the next. */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public void messages() throws InterruptedException {
        go(MESSAGES, false);
    }

    /** One operation is one step: scheduler to device, timer on the device, to the observer, and back. */
    @Benchmark
    @OperationsPerInvocation(STEPS)
    public void steps() throws InterruptedException {
        go(STEPS, true);
    }

    private void go(int count, boolean timed) throws InterruptedException {
        var done = new CountDownLatch(1);
        time.system().tell(new Guardian.Start(count, timed, done));
        done.await();
    }

    /** Starts a token on its way around three nodes. */
    static final class Guardian extends AbstractBehavior<Guardian.Start> {
        record Start(int count, boolean timed, CountDownLatch done) {}

        private final ActorRef<Node.Token> first;

        private Guardian(ActorContext<Start> context) {
            super(context);
            var third = context.spawn(Node.create(null, false), "third");
            var second = context.spawn(Node.create(third, true), "second");
            first = context.spawn(Node.create(second, false), "first");
        }

        static Behavior<Start> create() {
            return Behaviors.setup(Guardian::new);
        }

        @Override
        public Receive<Start> createReceive() {
            return newReceiveBuilder().onMessage(Start.class, this::onStart).build();
        }

        private Behavior<Start> onStart(Start start) {
            first.tell(new Node.Token(start.count, start.timed, first, start.done));
            return this;
        }
    }

    /** Passes the token on, at once or after a virtual millisecond, until its count is used up. */
    static final class Node extends AbstractBehavior<Node.Token> {
        record Token(int left, boolean timed, ActorRef<Token> home, CountDownLatch done) {}

        private final TimerScheduler<Token> timers;
        private final ActorRef<Token> next;
        private final boolean isDevice;
        private Token running;

        private Node(
                ActorContext<Token> context, TimerScheduler<Token> timers, ActorRef<Token> next, boolean isDevice) {
            super(context);
            this.timers = timers;
            this.next = next;
            this.isDevice = isDevice;
        }

        static Behavior<Token> create(ActorRef<Token> next, boolean isDevice) {
            return Behaviors.setup(
                    context -> Behaviors.withTimers(timers -> new Node(context, timers, next, isDevice)));
        }

        @Override
        public Receive<Token> createReceive() {
            return newReceiveBuilder().onMessage(Token.class, this::onToken).build();
        }

        private Behavior<Token> onToken(Token token) {
            if (token.timed && isDevice && running == null) {
                running = token;
                timers.startSingleTimer("step", token, Duration.ofNanos(1_000_000 + token.left % 7));
                return this;
            }
            running = null;
            boolean isLap = next == null;
            int left = token.timed && !isLap ? token.left : token.left - 1;
            if (left <= 0) {
                token.done.countDown();
            } else {
                var passed = new Token(left, token.timed, token.home, token.done);
                (isLap ? token.home : next).tell(passed);
            }
            return this;
        }
    }
}
