package understudy.api.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.StatefulMetric;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.ArrayList;
import java.util.List;

/** Makes metric families with a prefix and common labels, of which the first tells replicas apart. */
class LabelledFamilies {
    private final PrometheusRegistry registry;
    private final String prefix;
    private final List<String> labels;
    private final List<StatefulMetric<?, ?>> families = new ArrayList<>();

    LabelledFamilies(PrometheusRegistry registry, String prefix, String... labels) {
        this.registry = registry;
        this.prefix = prefix;
        this.labels = List.of(labels);
    }

    final Counter counter(String name, String help, String... moreLabels) {
        return kept(Counter.builder()
                .name(prefix + name)
                .help(help)
                .labelNames(with(moreLabels))
                .register(registry));
    }

    final Gauge gauge(String name, String help, String... moreLabels) {
        return kept(Gauge.builder()
                .name(prefix + name)
                .help(help)
                .labelNames(with(moreLabels))
                .register(registry));
    }

    final Histogram histogram(String name, String help, double... bounds) {
        return histogram(name, help, new String[0], bounds);
    }

    final Histogram histogram(String name, String help, String[] moreLabels, double... bounds) {
        return kept(Histogram.builder()
                .name(prefix + name)
                .help(help)
                .labelNames(with(moreLabels))
                .classicOnly()
                .classicUpperBounds(bounds)
                .register(registry));
    }

    private <M extends StatefulMetric<?, ?>> M kept(M family) {
        families.add(family);
        return family;
    }

    /** Removes all series of a replica. */
    final void forget(String replica) {
        families.forEach(family -> family.removeIf(values -> values.get(0).equals(replica)));
    }

    private String[] with(String... more) {
        var all = new ArrayList<>(labels);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}
