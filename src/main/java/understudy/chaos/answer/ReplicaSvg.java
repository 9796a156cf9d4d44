package understudy.chaos.answer;

import java.util.Locale;
import java.util.function.ToIntFunction;
import understudy.chaos.autoscaler.evidence.ReplicaCounts;
import understudy.chaos.autoscaler.evidence.ScaleCall;
import understudy.chaos.autoscaler.evidence.ScalingEvidence;
import understudy.chaos.law.Verdict;

/**
 * Time line of a law that an autoscaler broke, as SVG: replicas wanted and ready above, unfinished requests below, calls
 * of the scale subresource between. Faults are the background.
 */
final class ReplicaSvg {
    private static final int LABEL_WIDTH = 90;
    private static final int WIDTH = 1000;
    private static final int HEIGHT = 110;
    private static final int CALLS_Y = HEIGHT + 10;
    private static final int QUEUE_TOP = HEIGHT + 20;
    private static final int BOTTOM = QUEUE_TOP + 60;
    private static final int AXIS_HEIGHT = 18;
    private static final int NUM_TICKS = 10;

    private final ScalingEvidence evidence;
    private final StringBuilder svg = new StringBuilder();

    private ReplicaSvg(ScalingEvidence evidence) {
        this.evidence = evidence;
    }

    static String of(ScalingEvidence evidence, Verdict verdict) {
        return new ReplicaSvg(evidence).draw(verdict);
    }

    private String draw(Verdict verdict) {
        add(
                "<svg class=\"timeline\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Time line\">%n",
                LABEL_WIDTH + WIDTH, BOTTOM + AXIS_HEIGHT);
        evidence.faults()
                .forEach(fault -> add(
                        "<rect class=\"state faulty\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"><title>%s</title></rect>%n",
                        x(fault.fromNanos()),
                        x(fault.toNanos()) - x(fault.fromNanos()),
                        BOTTOM,
                        TimelineSvg.escaped(fault.fault())));
        int most = Math.max(1, Math.max(max(ReplicaCounts::wanted), max(counts -> counts.ready() + counts.starting())));
        int mostUnfinished = Math.max(1, max(ReplicaCounts::unfinished));
        label(12, "replicas, to " + most);
        label(CALLS_Y + 4, "scale calls");
        label(QUEUE_TOP + 12, "requests, to " + mostUnfinished);
        add(
                "<path class=\"unfinished\" d=\"M%d %d%s V%d Z\"/>%n",
                LABEL_WIDTH, BOTTOM, steps(ReplicaCounts::unfinished, mostUnfinished, QUEUE_TOP, BOTTOM), BOTTOM);
        add(
                "<path class=\"ready\" d=\"M%d %d%s\"/>%n",
                LABEL_WIDTH, HEIGHT, steps(ReplicaCounts::ready, most, 4, HEIGHT));
        add(
                "<path class=\"wanted\" d=\"M%d %d%s\"/>%n",
                LABEL_WIDTH, HEIGHT, steps(ReplicaCounts::wanted, most, 4, HEIGHT));
        evidence.calls().forEach(this::dot);
        add("<path class=\"line\" d=\"M0 %dH%d\"/>%n", HEIGHT, LABEL_WIDTH + WIDTH);
        verdict.breaches()
                .forEach(breach -> add(
                        "<path class=\"breach\" d=\"M%.1f 0V%d\"><title>%s</title></path>%n",
                        x(breach.atNanos()), BOTTOM, TimelineSvg.escaped(breach.reason())));
        for (int i = 0; i <= NUM_TICKS; i++) {
            long atNanos = evidence.durationNanos() * i / NUM_TICKS;
            add(
                    "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.1f s</text>%n",
                    x(atNanos), BOTTOM + AXIS_HEIGHT - 4, i == NUM_TICKS ? "end" : "middle", atNanos / 1e9);
        }
        return svg.append("</svg>\n").toString();
    }

    private void label(int y, String text) {
        add("<text x=\"0\" y=\"%d\">%s</text>%n", y, text);
    }

    private void dot(ScaleCall call) {
        String asked = call.replicas().isPresent() ? " of " + call.replicas().getAsInt() + " replicas" : "";
        add(
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%d\" r=\"2.5\"><title>%s%s, status %d, at %.3f s</title></circle>%n",
                call.isFailed() ? "broken" : "call",
                x(call.atNanos()),
                CALLS_Y,
                TimelineSvg.escaped(call.method()),
                asked,
                call.status(),
                call.atNanos() / 1e9);
    }

    private int max(ToIntFunction<ReplicaCounts> value) {
        return evidence.counts().stream().mapToInt(value).max().orElse(0);
    }

    /** Returns the path of a figure over time, from its begin on. */
    private String steps(ToIntFunction<ReplicaCounts> value, int most, int top, int bottom) {
        var path = new StringBuilder();
        for (var counts : evidence.counts()) {
            double y = bottom - (double) (bottom - top) * value.applyAsInt(counts) / most;
            path.append(String.format(Locale.ROOT, " H%.1f V%.1f", x(counts.atNanos()), y));
        }
        return path.toString();
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }

    private double x(long nanos) {
        double share = Math.max(0, Math.min(1, (double) nanos / Math.max(1, evidence.durationNanos())));
        return LABEL_WIDTH + WIDTH * share;
    }
}
