package understudy.cluster;

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
import understudy.cluster.device.ModelledGpu;
import understudy.latency.BatchShape;
import understudy.latency.LinearLatency;
import understudy.runtime.Clock;
import understudy.runtime.VirtualTime;

/** How many timer-driven steps the real device makes a second, between two actors that only send and count. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class GpuStepBenchmark {
    private static final int STEPS = 300_000;

    private VirtualTime<Object> time;

    @Setup(Level.Trial)
    public void create() {
        time = VirtualTime.create("bench", Driver::create);
        time.run(Double.POSITIVE_INFINITY);
    }

    @TearDown(Level.Trial)
    public void close() {
        time.close();
    }

    /** One operation is one step: driver to device, a timer, device to driver, driver to counter. */
    @Benchmark
    @OperationsPerInvocation(STEPS)
    public void steps() throws InterruptedException {
        var done = new CountDownLatch(1);
        time.system().tell(done);
        done.await();
    }

    /** Sends one step after the other to a device, and every result to a counter. */
    static final class Driver extends AbstractBehavior<Object> {
        private final ActorRef<VirtualGpu.Command> gpu;
        private final ActorRef<Object> counter;
        private final BatchShape batch;
        private CountDownLatch done;
        private int stepsLeft;

        private Driver(ActorContext<Object> context, Clock clock) {
            super(context);
            gpu = context.spawn(ModelledGpu.create(clock, new LinearLatency(5e6, 23e3, 10e3, 46)), "gpu");
            counter = context.spawn(Behaviors.setup(Counter::new), "counter");
            var builder = new BatchShape.Builder();
            for (int i = 0; i < 64; i++) {
                builder.add(1, 1_000 + i, true);
            }
            batch = builder.build();
        }

        static Behavior<Object> create(Clock clock) {
            return Behaviors.setup(context -> new Driver(context, clock));
        }

        @Override
        public Receive<Object> createReceive() {
            return newReceiveBuilder()
                    .onMessage(VirtualGpu.StepDone.class, this::onStepDone)
                    .onMessage(CountDownLatch.class, this::onStart)
                    .build();
        }

        private Behavior<Object> onStart(CountDownLatch latch) {
            done = latch;
            stepsLeft = STEPS;
            gpu.tell(new VirtualGpu.ExecuteStep(batch, getContext().getSelf()));
            return this;
        }

        private Behavior<Object> onStepDone(VirtualGpu.StepDone step) {
            counter.tell(step);
            if (--stepsLeft > 0) {
                gpu.tell(new VirtualGpu.ExecuteStep(batch, getContext().getSelf()));
            } else {
                done.countDown();
            }
            return this;
        }
    }

    /** Adds up busy time. */
    static final class Counter extends AbstractBehavior<Object> {
        private long busyNanos;

        private Counter(ActorContext<Object> context) {
            super(context);
        }

        @Override
        public Receive<Object> createReceive() {
            return newReceiveBuilder()
                    .onMessage(VirtualGpu.StepDone.class, this::onStepDone)
                    .build();
        }

        private Behavior<Object> onStepDone(VirtualGpu.StepDone step) {
            busyNanos += step.endNanos() - step.startNanos();
            return this;
        }
    }
}
