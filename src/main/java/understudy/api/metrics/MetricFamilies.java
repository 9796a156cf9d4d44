package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.stream.DoubleStream;

/** Makes metric families as vLLM has them, labelled with the engine's index and the model's name, and with its buckets. */
final class MetricFamilies extends LabelledFamilies {
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

    private final double[] tokenCounts;

    MetricFamilies(PrometheusRegistry registry, int maxModelLen) {
        super(registry, "vllm:", "engine", "model_name");
        tokenCounts = oneTwoFive(maxModelLen);
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

    /** 1, 2, 5, 10, 20, 50 and so on, up to a limit (vLLM {@code build_1_2_5_buckets}). */
    private static double[] oneTwoFive(int limit) {
        return DoubleStream.iterate(1, p -> p <= limit, p -> p * 10)
                .flatMap(p -> DoubleStream.of(p, 2 * p, 5 * p))
                .filter(bound -> bound <= limit)
                .toArray();
    }
}
