package understudy.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import understudy.bench.result.BenchRequest;
import understudy.engine.Request;
import understudy.runtime.Stopwatch;
import understudy.workload.LoadSchedule;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;

/**
 * Sends a workload to a server. One thread follows the schedule, sends requests when they are due, and handles each
 * end, which may lead to the next turn of a session; it never waits for the server. Other threads read the answers.
 */
public final class Bench {
    private static final long MAX_WAIT_NANOS = 100_000_000;

    private final BenchTarget target;
    private final Options options;
    private final ServerLink server;
    private final Dialogues dialogues;
    private final RandomStreams streams;
    private final LinkedBlockingQueue<LiveCall> ended = new LinkedBlockingQueue<>();
    private final Set<LiveCall> open = new HashSet<>();
    private final PriorityQueue<LiveCall> retries = new PriorityQueue<>(Comparator.comparingLong(LiveCall::retryNanos));
    private final List<BenchRequest> requests = new ArrayList<>();
    private volatile boolean isStopped;
    private volatile long durationNanos;

    /**
     * Options of a benchmark.
     *
     * @param isClosedLoop whether all is due at once, so that requests are wanted only when others have ended
     * @param maxRetries attempts after the first one
     * @param cancelRate share of requests that the client gives up, 0 to 1
     * @param cancelAfter chunks after which it gives up, at least 1
     */
    public record Options(boolean isClosedLoop, int maxRetries, double cancelRate, int cancelAfter) {}

    public Bench(BenchTarget target, Options options, RandomStreams streams) {
        this.target = target;
        this.options = options;
        this.streams = streams;
        server = new ServerLink(target);
        dialogues = new Dialogues(target);
    }

    /**
     * Sends one request many times at once, and waits for the answers.
     *
     * @throws BenchUnreachableException if one of them fails
     */
    public void warmUp(Request request, int count) {
        var body = new Dialogues(target).body(request);
        var answers = new ArrayList<CompletableFuture<LiveAnswer>>();
        for (int i = 0; i < count; i++) {
            answers.add(server.send(
                    server.request(body, request.prompt().turn()), new Attempt(Stopwatch.start(), Integer.MAX_VALUE)));
        }
        for (var answer : answers) {
            if (!answer.join().isCompleted()) {
                throw new BenchUnreachableException(
                        "a warm-up request failed: " + answer.join().error() + " (--num-warmups 0 does without)");
            }
        }
    }

    /**
     * Sends the workload, and returns when all has ended or {@link #stop} was called. To be called once.
     *
     * @param progress is told every now and then how many requests have ended
     */
    public List<BenchRequest> run(Workload workload, Progress progress) throws InterruptedException {
        var schedule = new LoadSchedule(workload);
        var watch = Stopwatch.start();
        long nextProgressNanos = 0;
        while (!isStopped && !schedule.isDone()) {
            sendDue(schedule, workload, watch);
            awaitEnd(schedule, watch);
            if (watch.nanos() >= nextProgressNanos) {
                progress.on(requests.size(), watch.seconds());
                nextProgressNanos = watch.nanos() + MAX_WAIT_NANOS;
            }
        }
        durationNanos = watch.nanos();
        List.copyOf(open).forEach(call -> record(call, call.breakOff()));
        requests.sort(Comparator.comparingLong(BenchRequest::id));
        return requests;
    }

    /** Listener to the progress of a benchmark. */
    public interface Progress {
        void on(int numEnded, double seconds);
    }

    /** Ends the benchmark as soon as possible; may be called by any thread. */
    public void stop() {
        isStopped = true;
    }

    public boolean isStopped() {
        return isStopped;
    }

    /** Returns how long the run has taken. */
    public long durationNanos() {
        return durationNanos;
    }

    /** Returns whether histories had made-up answers, since the server does not return token ids. */
    public boolean hasMadeUpAnswers() {
        return dialogues.hasMadeUpAnswers();
    }

    private void sendDue(LoadSchedule schedule, Workload workload, Stopwatch watch) {
        while (!retries.isEmpty() && retries.peek().retryNanos() <= watch.nanos()) {
            send(retries.remove(), watch);
        }
        for (long dueNanos = schedule.nextNanos(); !isStopped; dueNanos = schedule.nextNanos()) {
            var request = schedule.pollDue(watch.nanos());
            if (request == null) {
                return;
            }
            long intendedNanos = options.isClosedLoop ? dueNanos : workload.intendedNanos(request);
            var call = new LiveCall(
                    request,
                    server.request(dialogues.body(request), request.prompt().turn()),
                    maxChunks(request),
                    intendedNanos,
                    dueNanos);
            open.add(call);
            send(call, watch);
        }
    }

    private int maxChunks(Request request) {
        boolean isCancelled = streams.stream("cancellations", request.id()).nextDouble() < options.cancelRate;
        return isCancelled ? options.cancelAfter : Integer.MAX_VALUE;
    }

    private void send(LiveCall call, Stopwatch watch) {
        call.begin(watch);
        var answer = server.send(call.httpRequest(), call.attempt());
        call.onHandedOver(watch.nanos());
        var unused = answer.thenAccept(whole -> {
            call.onEnded(whole, watch.nanos());
            ended.add(call);
        });
    }

    private void awaitEnd(LoadSchedule schedule, Stopwatch watch) throws InterruptedException {
        long nextNanos = Math.min(
                schedule.nextNanos(),
                retries.isEmpty() ? LoadSchedule.NEVER : retries.peek().retryNanos());
        long waitNanos = Math.max(0, Math.min(MAX_WAIT_NANOS, nextNanos - watch.nanos()));
        for (var call = ended.poll(waitNanos, TimeUnit.NANOSECONDS); call != null; call = ended.poll()) {
            onEnded(call, schedule);
        }
    }

    private void onEnded(LiveCall call, LoadSchedule schedule) {
        if (call.numRetries() < options.maxRetries && call.attempt().mayBeRetried()) {
            call.retryLater();
            retries.add(call);
            return;
        }
        var answer = call.answer();
        dialogues.onEnded(call.request(), answer);
        boolean goesOn = schedule.onEnded(
                call.request().id(), answer.isCompleted() ? answer.outputTokens() : 0, call.endNanos());
        if (!goesOn) {
            dialogues.end(call.request());
        }
        record(call, call.toRecord());
    }

    private void record(LiveCall call, BenchRequest record) {
        open.remove(call);
        requests.add(record);
    }
}
