package understudy.runtime;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
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

/** How many messages one loop thread passes around a ring of three actors. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class VirtualTimeBenchmark {
    private static final int MESSAGES = 1_000_000;

    private VirtualTime<Token> time;

    @Setup(Level.Trial)
    public void create() {
        time = VirtualTime.create("bench", clock -> Behaviors.setup(Ring::new));
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
        var done = new CountDownLatch(1);
        time.system().tell(new Token(MESSAGES, done));
        done.await();
    }

    record Token(int left, CountDownLatch done) {}

    /** The first of three nodes: it starts the other two, and closes the ring. */
    static final class Ring extends AbstractBehavior<Token> {
        private final ActorRef<Token> next;

        private Ring(ActorContext<Token> context) {
            super(context);
            var third = context.spawn(node(context.getSelf()), "third");
            next = context.spawn(node(third), "second");
        }

        private static Behavior<Token> node(ActorRef<Token> next) {
            return Behaviors.setup(context -> new Node(context, next));
        }

        @Override
        public Receive<Token> createReceive() {
            return newReceiveBuilder().onMessage(Token.class, this::onToken).build();
        }

        private Behavior<Token> onToken(Token token) {
            pass(token, next);
            return this;
        }
    }

    /** A node that passes on what it gets. */
    static final class Node extends AbstractBehavior<Token> {
        private final ActorRef<Token> next;

        private Node(ActorContext<Token> context, ActorRef<Token> next) {
            super(context);
            this.next = next;
        }

        @Override
        public Receive<Token> createReceive() {
            return newReceiveBuilder().onMessage(Token.class, this::onToken).build();
        }

        private Behavior<Token> onToken(Token token) {
            pass(token, next);
            return this;
        }
    }

    private static void pass(Token token, ActorRef<Token> next) {
        if (token.left == 0) {
            token.done.countDown();
        } else {
            next.tell(new Token(token.left - 1, token.done));
        }
    }
}
