package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The samples of a page of metrics, in which the selectors of dashboards find theirs. */
record MetricsPage(List<Sample> samples) {
    private static final Pattern SELECTOR = Pattern.compile("(\\+?)([a-z0-9_:]+)\\{([^}]*)}");
    private static final Pattern SAMPLE = Pattern.compile("([a-z0-9_:]+)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    record Sample(String name, Map<String, String> labels, double value) {}

    static MetricsPage read(String text) {
        return new MetricsPage(text.lines()
                .filter(line -> !line.startsWith("#"))
                .map(MetricsPage::sample)
                .toList());
    }

    private static Sample sample(String line) {
        var matcher = SAMPLE.matcher(line);
        assertThat(matcher.matches()).as(line).isTrue();
        var labels = new HashMap<String, String>();
        if (matcher.group(2) != null) {
            LABEL.matcher(matcher.group(2)).results().forEach(label -> labels.put(label.group(1), label.group(2)));
        }
        return new Sample(matcher.group(1), labels, Double.parseDouble(matcher.group(3)));
    }

    /** The panels of a file of {@code understudy/api}. */
    static Stream<String> panels(String file) throws IOException {
        try (var in = Objects.requireNonNull(MetricsPage.class.getResourceAsStream(file), file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines().filter(line -> !line.isEmpty() && !line.startsWith("#")).toList().stream();
        }
    }

    /** Checks that each selector of a panel finds samples, of which some are above 0 if the panel says so. */
    void requirePanel(String panel) {
        var selectors =
                SELECTOR.matcher(panel.substring(panel.indexOf('|'))).results().toList();

        assertThat(selectors).as(panel).isNotEmpty();
        for (var selector : selectors) {
            var found = found(selector.group(2), List.of(selector.group(3).split(",")));
            assertThat(found).as(selector.group()).isNotEmpty();
            if (!selector.group(1).isEmpty()) {
                assertThat(found.stream().mapToDouble(Sample::value).sum())
                        .as(selector.group())
                        .isPositive();
            }
        }
    }

    /** Checks that each histogram has every bound, up to the one that all observations are below. */
    void requireCompleteHistograms(String prefix, int atLeast) {
        var counts = samples.stream()
                .filter(sample -> sample.name.startsWith(prefix) && sample.name.endsWith("_count"))
                .toList();

        assertThat(counts).hasSizeGreaterThanOrEqualTo(atLeast);
        for (var count : counts) {
            String family = count.name.substring(0, count.name.length() - "_count".length());
            var bounds = found(family + "_bucket", List.of("le")).stream()
                    .filter(bucket -> bucket.labels.entrySet().containsAll(count.labels.entrySet()))
                    .toList();
            assertThat(bounds).as(family).hasSizeGreaterThan(3);
            assertThat(bounds.get(bounds.size() - 1).labels).containsEntry("le", "+Inf");
            assertThat(bounds.get(bounds.size() - 1).value).as(family).isEqualTo(count.value);
            assertThat(bounds.stream().map(Sample::value)).as(family).isSorted();
        }
    }

    private List<Sample> found(String name, List<String> labels) {
        var found = new ArrayList<Sample>();
        for (var sample : samples) {
            if (sample.name.equals(name) && labels.stream().allMatch(label -> hasLabel(sample, label))) {
                found.add(sample);
            }
        }
        return found;
    }

    private static boolean hasLabel(Sample sample, String label) {
        var withValue = LABEL.matcher(label);
        return withValue.matches()
                ? withValue.group(2).equals(sample.labels.get(withValue.group(1)))
                : label.isEmpty() || sample.labels.containsKey(label);
    }
}
