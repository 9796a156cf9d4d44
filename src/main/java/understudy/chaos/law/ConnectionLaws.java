package understudy.chaos.law;

import java.util.LinkedHashMap;
import java.util.List;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ConnectionSample;

/** Laws about what a gateway holds open behind it. */
final class ConnectionLaws {
    static final List<Law> ALL = List.of(
            Laws.law(
                    "no-connection-leak",
                    "After the load no request is in flight, and no more idle connections are open than the bound"
                            + " allows.",
                    ConnectionLaws::noConnectionLeak),
            Laws.law(
                    "aborts-reach-replicas",
                    "When a client leaves, its request to a replica ends within the grace.",
                    ConnectionLaws::abortsReachReplicas));

    private ConnectionLaws() {}

    private static Judgement noConnectionLeak(Judgement judgement) {
        var last = new LinkedHashMap<String, ConnectionSample>();
        judgement.evidence.connections().forEach(sample -> last.put(sample.replica(), sample));
        int bound = judgement.evidence.bounds().maxIdleConnections();
        for (var sample : last.values()) {
            int numIdle = sample.numOpen() - sample.numInFlight();
            if (sample.numInFlight() > 0 || numIdle > bound) {
                judgement.breach(
                        "",
                        sample.replica(),
                        sample.atNanos(),
                        sample.replica() + " has " + sample.numInFlight() + " requests in flight and " + numIdle
                                + " idle connections after the load; the bound is 0 and " + bound);
            }
        }
        return judgement;
    }

    private static Judgement abortsReachReplicas(Judgement judgement) {
        long graceNanos = judgement.evidence.bounds().graceNanos();
        for (var call : judgement.evidence.calls()) {
            if (call.ending() != ClientCall.Ending.LEFT_BY_CLIENT) {
                continue;
            }
            for (var attempt : judgement.attempts(call)) {
                long endNanos = attempt.ending() == Attempt.Ending.OPEN
                        ? judgement.evidence.durationNanos()
                        : attempt.endNanos();
                if (endNanos > call.endNanos() + graceNanos) {
                    judgement.breach(
                            attempt,
                            attempt.replica() + " went on for " + Judgement.seconds(endNanos - call.endNanos())
                                    + " after the client had left, and ended as " + attempt.ending()
                                    + "; the grace is " + Judgement.seconds(graceNanos));
                }
            }
        }
        return judgement;
    }
}
