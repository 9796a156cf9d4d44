package understudy.chaos.autoscaler.reference;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import understudy.chaos.autoscaler.AutoscalerUnderTest.Setup;
import understudy.json.Jackson;
import understudy.report.latency.LatencyStats;
import understudy.runtime.EpochClock;
import understudy.runtime.Stopwatch;
import understudy.scaling.Hpa;
import understudy.scaling.Keda;
import understudy.scaling.ScalingBehavior;
import understudy.scaling.ScalingBehavior.Pace;
import understudy.scaling.ScalingMetric;
import understudy.scaling.ScalingMetrics;
import understudy.scaling.ScalingMetrics.ReplicaLoad;
import understudy.scaling.ScalingRule;
import understudy.scaling.Stabilization;

/**
 * Loop of an autoscaler: asks the rule of an HPA, or that of KEDA where the minimum is 0, and stabilizes its answers. Its
 * metric is the requests that wait or run, those in the router included, of which a replica should have as many as it
 * runs at a time. Unless each ready replica and the router show new figures, the number of replicas stays.
 */
final class ScaleLoop implements Runnable {
    private static final String WAITING = "vllm:num_requests_waiting";
    private static final String RUNNING = "vllm:num_requests_running";
    private static final String HELD = "understudy_router_requests_held";
    private static final String ROUTER = "router";

    /** So many periods after they were taken, metrics are too old. */
    private static final int MAX_AGE_PERIODS = 3;

    private static final int MIN_TIMEOUT_MILLIS = 1000;
    private static final int CONFLICT = 409;
    private static final int MAX_WRITES = 5;
    private static final double TOLERANCE = 0.1;
    private static final int MANY = 1000;
    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final Setup setup;
    private final WrongScaling wrong;
    private final ScaleClient client;
    private final ScalingRule rule;
    private final Stopwatch watch = Stopwatch.start();
    private final CountDownLatch isStopped = new CountDownLatch(1);
    private @Nullable Stabilization stabilization;
    private @Nullable JsonNode firstScale;
    private boolean hasGivenUp;

    ScaleLoop(Setup setup, WrongScaling wrong) {
        this.setup = setup;
        this.wrong = wrong;
        client = new ScaleClient(Duration.ofMillis(Math.max(MIN_TIMEOUT_MILLIS, 2L * setup.periodMillis())));
        rule = setup.minReplicas() == 0
                ? new Keda(new Keda.Options(
                        ScalingMetric.NUM_REQUESTS_WAITING,
                        setup.requestsPerReplica(),
                        0,
                        TimeUnit.MILLISECONDS.toNanos(setup.windowMillis()),
                        true))
                : new Hpa(ScalingMetric.NUM_REQUESTS_WAITING, setup.requestsPerReplica(), TOLERANCE);
    }

    /** Lets the loop end after the evaluation that runs. */
    void stop() {
        isStopped.countDown();
    }

    @Override
    public void run() {
        try {
            do {
                if (!hasGivenUp) {
                    evaluate();
                }
            } while (!isStopped.await(setup.periodMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void evaluate() throws InterruptedException {
        Optional<Load> load;
        try {
            load = load();
        } catch (IOException e) {
            load = wrong == WrongScaling.MISSING_AS_ZERO ? Optional.of(Load.NONE) : Optional.empty();
        }
        if (load.isPresent()) {
            scale(load.get());
        }
    }

    /**
     * What the metrics say.
     *
     * @param held requests in the router
     */
    private record Load(List<ReplicaLoad> ready, int held) {
        static final Load NONE = new Load(List.of(new ReplicaLoad(0, 0, 0)), 0);
    }

    /** Returns the load; empty if it is not known of a replica that is ready, or of the router. */
    private Optional<Load> load() throws IOException, InterruptedException {
        var ready = readyReplicas(client.get(setup.targets()));
        long maxAgeMillis = wrong == WrongScaling.TRUSTS_STALE_SERIES
                ? Long.MAX_VALUE / 2
                : (long) MAX_AGE_PERIODS * setup.periodMillis();
        var page = new LoadPage(client.get(setup.metrics()), EpochClock.millis() - maxAgeMillis);
        boolean missingIsZero = wrong == WrongScaling.MISSING_AS_ZERO;
        var loads = new ArrayList<ReplicaLoad>();
        for (String replica : ready) {
            var waiting = page.figure(WAITING, replica);
            var running = page.figure(RUNNING, replica);
            if (!missingIsZero && (waiting.isEmpty() || running.isEmpty())) {
                return Optional.empty();
            }
            int unfinished = (int) (waiting.orElse(0) + running.orElse(0));
            loads.add(new ReplicaLoad(unfinished, (int) running.orElse(0), 0));
        }
        var held = page.figure(HELD, ROUTER);
        if (held.isEmpty() && !missingIsZero) {
            return Optional.empty();
        }
        int heldByRouter = wrong == WrongScaling.SEES_REPLICAS_ONLY ? 0 : (int) held.orElse(0);
        return Optional.of(new Load(loads, heldByRouter));
    }

    private static List<String> readyReplicas(String targets) throws IOException {
        var ready = new ArrayList<String>();
        for (var group : Jackson.mapper().readTree(targets)) {
            var labels = group.path("labels");
            if (labels.path("__meta_kubernetes_pod_ready").asText().equals("true")) {
                ready.add(labels.path("instance").asText());
            }
        }
        return ready;
    }

    private void scale(Load load) throws InterruptedException {
        for (int i = 0; isStopped.getCount() > 0 && (i < MAX_WRITES || wrong == WrongScaling.HAMMERS_API); i++) {
            try {
                var scale = readScale();
                int replicas = scale.path("spec").path("replicas").asInt();
                int next = next(load, replicas);
                if (next != replicas) {
                    client.write(setup.scale(), scale, next);
                }
                return;
            } catch (IOException e) {
                hasGivenUp = wrong == WrongScaling.GIVES_UP_AT_API_ERROR;
                boolean isConflict = e instanceof ScaleClient.StatusException status && status.status == CONFLICT;
                if (hasGivenUp || !(isConflict || wrong == WrongScaling.HAMMERS_API)) {
                    return;
                }
            }
        }
    }

    private JsonNode readScale() throws IOException, InterruptedException {
        var scale = firstScale;
        if (scale == null || wrong != WrongScaling.KEEPS_STALE_VERSION) {
            scale = client.scale(setup.scale());
            firstScale = scale;
        }
        return scale;
    }

    private int next(Load load, int replicas) {
        long nowNanos = watch.nanos();
        if (stabilization == null) {
            stabilization = new Stabilization(behavior(), replicas);
        }
        int numStarting = Math.max(0, replicas - load.ready.size());
        var metrics =
                new ScalingMetrics(nowNanos, load.ready, numStarting, 0, LatencyStats.of(new double[0]), load.held);
        int desired = rule.desired(metrics);
        if (wrong == WrongScaling.ASKS_AGAIN_WHILE_STARTING && numStarting > 0) {
            int sum = load.ready.stream().mapToInt(ReplicaLoad::numWaiting).sum();
            double mean = (double) sum / Math.max(1, load.ready.size());
            desired = (int) Math.ceil(replicas * mean / setup.requestsPerReplica());
        }
        return stabilization.next(
                nowNanos, replicas, wrong == WrongScaling.NEVER_DOWN ? Math.max(replicas, desired) : desired);
    }

    private ScalingBehavior behavior() {
        boolean isSlow = wrong == WrongScaling.SLOW_UP;
        long downNanos =
                wrong == WrongScaling.NO_STABILIZATION ? 0 : TimeUnit.MILLISECONDS.toNanos(setup.windowMillis());
        return new ScalingBehavior(
                setup.minReplicas(),
                wrong == WrongScaling.IGNORES_MAXIMUM ? MANY : setup.maxReplicas(),
                new Pace(isSlow ? SLOW_NANOS : 0, 0, MANY, 1),
                new Pace(downNanos, 0, MANY, 1));
    }
}
