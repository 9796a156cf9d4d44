package understudy.chaos.answer;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.text.StringEscapeUtils;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.Evidence;
import understudy.chaos.evidence.ReplicaPhase;
import understudy.chaos.law.Breach;
import understudy.chaos.law.Verdict;

/**
 * Time line of a law that was broken, as SVG: a lane of the client and one of each replica. States of a replica are its
 * background; calls and the requests to replicas are bars, those of breaches in full colour.
 */
final class TimelineSvg {
    private static final int LABEL_WIDTH = 90;
    private static final int WIDTH = 1000;
    private static final int LANE_HEIGHT = 26;
    private static final int BAR_HEIGHT = 12;
    private static final int AXIS_HEIGHT = 18;
    private static final int NUM_TICKS = 10;
    private static final double MIN_BAR = 1.5;

    private final Evidence evidence;
    private final Set<String> brokenCalls;
    private final List<Breach> breaches;
    private final StringBuilder svg = new StringBuilder();

    private TimelineSvg(Evidence evidence, Verdict verdict) {
        this.evidence = evidence;
        breaches = verdict.breaches();
        brokenCalls = breaches.stream().map(Breach::callId).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    static String of(Evidence evidence, Verdict verdict) {
        return new TimelineSvg(evidence, verdict).draw();
    }

    private String draw() {
        int numLanes = evidence.replicas().size() + 1;
        int bottom = numLanes * LANE_HEIGHT;
        svg.append(String.format(
                Locale.ROOT,
                "<svg class=\"timeline\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Time line\">%n",
                LABEL_WIDTH + WIDTH,
                bottom + AXIS_HEIGHT));
        lane(0, "client");
        evidence.calls()
                .forEach(call -> bar(
                        0,
                        call.sentNanos(),
                        call.endNanos(),
                        brokenCalls.contains(call.id()) ? "broken" : isWhole(call) ? "call" : "failed",
                        call.id() + ": " + Words.of(call.ending()) + ", status " + call.status() + ", "
                                + call.received().size() + " of "
                                + call.expected().size() + " tokens"));
        for (int i = 0; i < evidence.replicas().size(); i++) {
            drawReplica(i + 1, evidence.replicas().get(i));
        }
        breaches.forEach(breach -> mark(breach, bottom));
        axis(bottom);
        return svg.append("</svg>\n").toString();
    }

    private static boolean isWhole(ClientCall call) {
        return call.ending() == ClientCall.Ending.COMPLETED;
    }

    private void drawReplica(int lane, String replica) {
        evidence.phases().stream()
                .filter(phase -> phase.replica().equals(replica) && phase.state() != ReplicaPhase.State.UP)
                .forEach(phase -> rect(
                        lane * LANE_HEIGHT,
                        LANE_HEIGHT,
                        phase.fromNanos(),
                        phase.toNanos(),
                        "state " + Words.of(phase.state()),
                        replica + " is " + Words.of(phase.state()) + ": " + phase.fault()));
        lane(lane, replica);
        evidence.attempts().stream()
                .filter(attempt -> attempt.replica().equals(replica))
                .forEach(attempt -> bar(
                        lane,
                        attempt.acceptedNanos(),
                        attempt.endNanos(),
                        brokenCalls.contains(attempt.callId())
                                ? "broken"
                                : attempt.ending() == Attempt.Ending.COMPLETED ? "call" : "failed",
                        attempt.callId() + " at " + replica + ": " + Words.of(attempt.ending()) + ", status "
                                + attempt.status() + ", " + attempt.bodyBytes() + " bytes"));
    }

    private void lane(int lane, String name) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"0\" y=\"%d\">%s</text><path class=\"line\" d=\"M0 %dH%d\"/>%n",
                lane * LANE_HEIGHT + 17,
                escaped(name),
                (lane + 1) * LANE_HEIGHT,
                LABEL_WIDTH + WIDTH));
    }

    private void bar(int lane, long fromNanos, long toNanos, String kind, String title) {
        long endNanos = toNanos < fromNanos ? evidence.durationNanos() : toNanos;
        rect(lane * LANE_HEIGHT + (LANE_HEIGHT - BAR_HEIGHT) / 2, BAR_HEIGHT, fromNanos, endNanos, kind, title);
    }

    private void rect(int y, int height, long fromNanos, long toNanos, String kind, String title) {
        svg.append(String.format(
                Locale.ROOT,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s</title></rect>%n",
                kind,
                x(fromNanos),
                y,
                Math.max(MIN_BAR, x(toNanos) - x(fromNanos)),
                height,
                escaped(String.format(
                        Locale.ROOT, "%s, from %.3f s to %.3f s", title, fromNanos / 1e9, toNanos / 1e9))));
    }

    private void mark(Breach breach, int bottom) {
        svg.append(String.format(
                Locale.ROOT,
                "<path class=\"breach\" d=\"M%.1f 0V%d\"><title>%s</title></path>%n",
                x(breach.atNanos()),
                bottom,
                escaped(breach.reason())));
    }

    private void axis(int bottom) {
        for (int i = 0; i <= NUM_TICKS; i++) {
            long atNanos = evidence.durationNanos() * i / NUM_TICKS;
            svg.append(String.format(
                    Locale.ROOT,
                    "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.1f s</text>%n",
                    x(atNanos),
                    bottom + AXIS_HEIGHT - 4,
                    i == NUM_TICKS ? "end" : "middle",
                    atNanos / 1e9));
        }
    }

    private double x(long nanos) {
        double share = Math.max(0, Math.min(1, (double) nanos / Math.max(1, evidence.durationNanos())));
        return LABEL_WIDTH + WIDTH * share;
    }

    static String escaped(String text) {
        return StringEscapeUtils.escapeHtml4(text);
    }
}
