package understudy.chaos.autoscaler.plane;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Metrics of a cluster, each series with the instance that it is of. Immutable.
 *
 * @param lines lines of the page, comments included
 */
record MetricsPage(List<Line> lines) {
    /** Instance of the series that are not of a replica. */
    static final String ROUTER = "router";

    private static final Pattern SERIES = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern ENGINE = Pattern.compile("\\bengine=\"(\\d+)\"");
    private static final Pattern COUNTER = Pattern.compile("_(total|count|sum|bucket)$");

    MetricsPage {
        lines = List.copyOf(lines);
    }

    /**
     * A line.
     *
     * @param name name of the series; empty for a comment
     * @param instance whose series it is; empty for a comment
     * @param labels labels with commas between, or the whole comment
     * @param figure the value
     */
    record Line(String name, String instance, String labels, String figure) {
        boolean isComment() {
            return name.isEmpty();
        }

        private Line withFigure(String other) {
            return new Line(name, instance, labels, other);
        }

        private String series() {
            return name + "{" + instance + "," + labels + "}";
        }
    }

    /**
     * Reads what a cluster shows.
     *
     * @param text Prometheus' text format, with the label {@code engine} at series of replicas
     * @param instances names of the replicas whose series are kept, by their {@code engine}
     */
    static MetricsPage of(String text, Map<Integer, String> instances) {
        var lines = new ArrayList<Line>();
        text.lines().forEach(line -> {
            var series = SERIES.matcher(line);
            if (line.startsWith("#")) {
                lines.add(new Line("", "", line, ""));
            } else if (series.matches()) {
                add(series, instances, lines);
            }
        });
        return new MetricsPage(lines);
    }

    private static void add(Matcher series, Map<Integer, String> instances, List<Line> into) {
        String labels = series.group(2) == null ? "" : series.group(2);
        var engine = ENGINE.matcher(labels);
        boolean isOfReplica = engine.find();
        String instance = isOfReplica ? instances.get(Integer.parseInt(engine.group(1))) : ROUTER;
        if (instance != null) {
            String alone = isOfReplica ? engine.replaceFirst("engine=\"0\"") : labels;
            into.add(new Line(series.group(1), instance, alone, series.group(3)));
        }
    }

    /** Returns the page as a fault leaves it; {@code atBegin} is the page at the begin of the fault. */
    MetricsPage under(PlaneFault fault, MetricsPage atBegin) {
        return switch (fault.kind()) {
            case VANISHED_SERIES -> without(fault);
            case FALSE_METRICS ->
                changed(fault, line -> line.withFigure(fault.series().getOrDefault(line.name(), line.figure())));
            case RESTARTED_COUNTERS -> restarted(fault, atBegin);
            default -> this;
        };
    }

    private MetricsPage without(PlaneFault fault) {
        Set<String> names = fault.series().keySet();
        return new MetricsPage(lines.stream()
                .filter(line -> line.isComment()
                        || !fault.concerns(line.instance())
                        || !(names.isEmpty() || names.contains(line.name())))
                .toList());
    }

    private MetricsPage restarted(PlaneFault fault, MetricsPage atBegin) {
        var before = new HashMap<String, Double>();
        atBegin.lines.forEach(line -> before.put(line.series(), number(line)));
        return changed(fault, line -> {
            double since = number(line) - before.getOrDefault(line.series(), 0.0);
            return COUNTER.matcher(line.name()).find() ? line.withFigure(String.valueOf(Math.max(0, since))) : line;
        });
    }

    private static double number(Line line) {
        try {
            return Double.parseDouble(line.figure());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private MetricsPage changed(PlaneFault fault, UnaryOperator<Line> change) {
        return new MetricsPage(lines.stream()
                .map(line -> line.isComment() || !fault.concerns(line.instance()) ? line : change.apply(line))
                .toList());
    }

    /** Returns all series with the label {@code instance} and a time stamp, as Prometheus' federation has them. */
    String federated(long epochMillis) {
        var text = new StringBuilder();
        for (var line : lines) {
            if (line.isComment()) {
                text.append(line.labels()).append('\n');
            } else {
                String labels = line.labels().isEmpty() ? "" : line.labels().replaceFirst(",$", "") + ",";
                text.append(line.name())
                        .append('{')
                        .append(labels)
                        .append("instance=\"")
                        .append(line.instance())
                        .append("\"} ")
                        .append(line.figure())
                        .append(' ')
                        .append(epochMillis)
                        .append('\n');
            }
        }
        return text.toString();
    }

    /** Returns the series of one instance, as it shows them itself. */
    String of(String instance) {
        var text = new StringBuilder();
        for (var line : lines) {
            if (line.isComment()) {
                text.append(line.labels()).append('\n');
            } else if (line.instance().equals(instance)) {
                String labels = line.labels().isEmpty() ? "" : "{" + line.labels() + "}";
                text.append(line.name())
                        .append(labels)
                        .append(' ')
                        .append(line.figure())
                        .append('\n');
            }
        }
        return text.toString();
    }
}
