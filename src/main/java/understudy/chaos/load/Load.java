package understudy.chaos.load;

import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import understudy.chaos.evidence.ClientCall;
import understudy.runtime.Stopwatch;
import understudy.workload.RandomStreams;

/** Sends the calls of a scenario when their times come, and collects them. It ends within the clients' patience. */
public final class Load implements AutoCloseable {
    /** Calls that may be under way at a time; further ones wait for the next that ends. */
    private static final int MAX_IN_FLIGHT = 256;

    private static final long IDLE_SECONDS = 5;
    private static final double JITTER = 0.5;
    private static final long END_SLACK_SECONDS = 2;

    private final URI gateway;
    private final Stopwatch stopwatch;
    private final long patienceNanos;
    private final List<CallPlan> plans;
    private final List<ClientCall> calls = new ArrayList<>();
    private final AtomicInteger numOpen = new AtomicInteger();
    private final AtomicInteger nextId;
    private final CountDownLatch isStopped = new CountDownLatch(1);
    private final CountDownLatch hasSentAll = new CountDownLatch(1);
    private final ExecutorService senders = new ThreadPoolExecutor(
            0,
            MAX_IN_FLIGHT,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Load::thread,
            new ThreadPoolExecutor.CallerRunsPolicy());

    /**
     * Plans the calls.
     *
     * @param stopwatch runs since the scenario's start
     * @param seed of their jitter, sessions and kinds
     */
    public Load(URI gateway, Stopwatch stopwatch, List<LoadSettings> settings, long patienceNanos, long seed) {
        this.gateway = gateway;
        this.stopwatch = stopwatch;
        this.patienceNanos = patienceNanos;
        plans = plans(settings, new RandomStreams(seed));
        nextId = new AtomicInteger(plans.size());
    }

    private static Thread thread(Runnable task) {
        var thread = new Thread(task, "chaos-client");
        thread.setDaemon(true);
        return thread;
    }

    private static List<CallPlan> plans(List<LoadSettings> settings, RandomStreams streams) {
        var drawn = new ArrayList<CallPlan>();
        for (int s = 0; s < settings.size(); s++) {
            var load = settings.get(s);
            var random = streams.stream("chaos-load", s);
            long gapNanos = Math.round(1e9 / load.callsPerSecond());
            long count = Math.max(1, load.durationNanos() / gapNanos);
            for (long i = 0; i < count; i++) {
                long jitterNanos = Math.round(JITTER * gapNanos * random.nextDouble());
                boolean leaves = load.leaveEvery() > 0 && i % load.leaveEvery() == 0;
                drawn.add(CallPlanBuilder.builder()
                        .id("")
                        .atNanos(load.startNanos() + i * gapNanos + jitterNanos)
                        .session(load.tenant() + "s" + random.nextInt(load.sessions()))
                        .tenant(load.tenant())
                        .model(load.model())
                        .isStreamed(random.nextDouble() < load.streamedShare() || leaves)
                        .numPrefixWords(load.prefixWords())
                        .numWords(load.words())
                        .retries(load.retries())
                        .leaveAfterTokens(leaves ? load.words() / 3 + 1 : 0)
                        .build());
            }
        }
        drawn.sort(Comparator.comparingLong(CallPlan::atNanos));
        var plans = new ArrayList<CallPlan>();
        for (int i = 0; i < drawn.size(); i++) {
            plans.add(CallPlanBuilder.builder(drawn.get(i)).id(id(i)).build());
        }
        return plans;
    }

    private static String id(int number) {
        return String.format(Locale.ROOT, "call-%04d", number);
    }

    /** Begins to send. */
    public void start() {
        thread(this::sendAll).start();
    }

    private void sendAll() {
        try {
            for (var plan : plans) {
                if (isStopped.await(plan.atNanos() - stopwatch.nanos(), TimeUnit.NANOSECONDS)) {
                    return;
                }
                send(plan);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            hasSentAll.countDown();
        }
    }

    private void send(CallPlan plan) {
        numOpen.incrementAndGet();
        senders.execute(() -> {
            try {
                call(plan);
            } finally {
                numOpen.decrementAndGet();
                synchronized (calls) {
                    calls.notifyAll();
                }
            }
        });
    }

    private void call(CallPlan first) {
        var plan = first;
        while (true) {
            var call = new Caller(gateway, stopwatch, plan, patienceNanos).call();
            synchronized (calls) {
                calls.add(call);
            }
            boolean isAgain = call.ending() == ClientCall.Ending.REFUSED
                    && call.retryAfterSeconds().isPresent()
                    && plan.retries() > 0;
            if (!isAgain || stops(call.retryAfterSeconds().getAsLong())) {
                return;
            }
            plan = CallPlanBuilder.builder(plan)
                    .id(id(nextId.getAndIncrement()))
                    .retries(plan.retries() - 1)
                    .build();
        }
    }

    private boolean stops(long seconds) {
        try {
            return isStopped.await(Math.min(TimeUnit.SECONDS.toNanos(seconds), patienceNanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Returns the time at which the last call is sent. */
    public long lastNanos() {
        return plans.get(plans.size() - 1).atNanos();
    }

    /** Returns whether all calls have been sent, and have ended. */
    public boolean hasEnded() {
        return hasSentAll.getCount() == 0 && numOpen.get() == 0;
    }

    /** Returns the calls that have ended, in the order in which they were sent. */
    public List<ClientCall> calls() {
        synchronized (calls) {
            return calls.stream()
                    .sorted(Comparator.comparingLong(ClientCall::sentNanos).thenComparing(ClientCall::id))
                    .toList();
        }
    }

    /** Sends nothing more; what is under way ends by the client's patience. */
    @Override
    public void close() {
        isStopped.countDown();
        senders.shutdown();
        try {
            senders.awaitTermination(END_SLACK_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
