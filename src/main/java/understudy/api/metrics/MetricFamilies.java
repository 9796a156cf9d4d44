package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.StatefulMetric;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/** Makes metric families as vLLM has them: labelled with the engine's index and the model's name. */
final class MetricFamilies {
    private static final double[] TTFT_SECONDS = {
        .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560
    };
    private static final double[] TOKEN_SECONDS = {
        .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80
    };
    private static final double[] REQUEST_SECONDS = {
        .3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680
    };
    private static final double[] ITERATION_TOKENS = DoubleStream.concat(
                    DoubleStream.of(1), DoubleStream.iterate(8, b -> b <= 16384, b -> b * 2))
            .toArray();

    private static final double[] OFFLOAD_BYTES = {1e6, 5e6, 10e6, 20e6, 40e6, 60e6, 80e6, 100e6, 150e6, 200e6};

    private final PrometheusRegistry registry;
    private final double[] tokenCounts;
    private final List<StatefulMetric<?, ?>> families = new ArrayList<>();

    MetricFamilies(PrometheusRegistry registry, int maxModelLen) {
        this.registry = registry;
        tokenCounts = oneTwoFive(maxModelLen);
    }

    Counter counter(String name, String help, String... moreLabels) {
        return kept(Counter.builder()
                .name("vllm:" + name)
                .help(help)
                .labelNames(labels(moreLabels))
                .register(registry));
    }

    Gauge gauge(String name, String help, String... moreLabels) {
        return kept(Gauge.builder()
                .name("vllm:" + name)
                .help(help)
                .labelNames(labels(moreLabels))
                .register(registry));
    }

    Histogram ttftSeconds(String name, String help) {
        return histogram(name, help, TTFT_SECONDS);
    }

    Histogram tokenSeconds(String name, String help) {
        return histogram(name, help, TOKEN_SECONDS);
    }

    Histogram requestSeconds(String name, String help) {
        return histogram(name, help, REQUEST_SECONDS);
    }

    Histogram iterationTokens(String name, String help) {
        return histogram(name, help, ITERATION_TOKENS);
    }

    Histogram numTokens(String name, String help) {
        return histogram(name, help, tokenCounts);
    }

    /** Returns sizes of transfers to and from slower memories, in bytes. */
    Histogram offloadBytes(String name, String help, String... moreLabels) {
        return histogram(name, help, moreLabels, OFFLOAD_BYTES);
    }

    Histogram histogram(String name, String help, double... bounds) {
        return histogram(name, help, new String[0], bounds);
    }

    private Histogram histogram(String name, String help, String[] moreLabels, double... bounds) {
        return kept(Histogram.builder()
                .name("vllm:" + name)
                .help(help)
                .labelNames(labels(moreLabels))
                .classicOnly()
                .classicUpperBounds(bounds)
                .register(registry));
    }

    private <M extends StatefulMetric<?, ?>> M kept(M family) {
        families.add(family);
        return family;
    }

    /** Removes all series of an engine. */
    void forget(String engine) {
        families.forEach(family -> family.removeIf(labels -> labels.get(0).equals(engine)));
    }

    private static String[] labels(String... more) {
        var labels = new String[more.length + 2];
        labels[0] = "engine";
        labels[1] = "model_name";
        System.arraycopy(more, 0, labels, 2, more.length);
        return labels;
    }

    /** 1, 2, 5, 10, 20, 50 and so on, up to a limit (vLLM {@code build_1_2_5_buckets}). */
    private static double[] oneTwoFive(int limit) {
        return DoubleStream.iterate(1, p -> p <= limit, p -> p * 10)
                .flatMap(p -> DoubleStream.of(p, 2 * p, 5 * p))
                .filter(bound -> bound <= limit)
                .toArray();
    }
}
