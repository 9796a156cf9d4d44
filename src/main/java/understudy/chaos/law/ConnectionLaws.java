package understudy.chaos.law;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.ToIntFunction;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ConnectionSample;
import understudy.chaos.evidence.Evidence;

/** Laws about connections of a gateway to replicas. */
final class ConnectionLaws {
    static final List<Law<Evidence>> ALL = List.of(
            Laws.law(
                    "no-connection-leak",
                    "After the load no request is in flight, and no more idle connections are open than the bound"
                            + " allows.",
                    ConnectionLaws::noConnectionLeak),
            Laws.law(
                    "aborts-reach-replicas",
                    "When a client leaves, its request to a replica ends within the grace.",
                    ConnectionLaws::abortsReachReplicas),
            Laws.law(
                    "certificates-verified",
                    "No request is sent over a connection that began with a certificate which does not verify.",
                    ConnectionLaws::certificatesVerified));

    private ConnectionLaws() {}

    /** A probe may be under way whenever connections are counted, so that the fewest after the load are what counts. */
    private static Judgement noConnectionLeak(Judgement judgement) {
        long loadEndNanos = judgement.evidence.calls().stream()
                .mapToLong(ClientCall::endNanos)
                .max()
                .orElse(0);
        var samples = new LinkedHashMap<String, List<ConnectionSample>>();
        judgement.evidence.connections().stream()
                .filter(sample -> sample.atNanos() > loadEndNanos)
                .forEach(sample -> samples.computeIfAbsent(sample.replica(), name -> new ArrayList<>())
                        .add(sample));
        int bound = judgement.evidence.bounds().maxIdleConnections();
        samples.forEach((replica, ofReplica) -> {
            int numInFlight = least(ofReplica, ConnectionSample::numInFlight);
            int numIdle = least(ofReplica, sample -> sample.numOpen() - sample.numInFlight());
            if (numInFlight > 0 || numIdle > bound) {
                judgement.breach(
                        "",
                        replica,
                        ofReplica.get(ofReplica.size() - 1).atNanos(),
                        replica + " has " + numInFlight + " requests in flight and " + numIdle
                                + " idle connections after the load; the bound is 0 and " + bound);
            }
        });
        return judgement;
    }

    private static int least(List<ConnectionSample> samples, ToIntFunction<ConnectionSample> value) {
        return samples.stream().mapToInt(value).min().orElse(0);
    }

    private static Judgement certificatesVerified(Judgement judgement) {
        for (var attempt : judgement.evidence.attempts()) {
            if (attempt.hasBadCertificate()) {
                judgement.breach(
                        attempt,
                        attempt.replica() + " was sent a request over connection " + attempt.connection()
                                + ", whose certificate does not verify");
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
                if (judgement.inTimeNanos(call.endNanos(), endNanos) > graceNanos) {
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
