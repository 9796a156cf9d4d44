package understudy.chaos.law;

import java.util.ArrayList;
import java.util.List;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.ClientCall.Ending;
import understudy.chaos.evidence.Evidence;

/** Laws about what the client gets. */
final class AnswerLaws {
    /** Streams that take less are too short to tell whether they were held back. */
    private static final long SHORT_STREAM_NANOS = 300_000_000L;

    /** Fewer long streams say little. */
    private static final int MIN_STREAMS = 5;

    private static final int OK = 200;
    private static final int MULTIPLE_CHOICES = 300;

    static final List<Law<Evidence>> ALL = List.of(
            Laws.law(
                    "calls-end-once",
                    "Each call ends exactly once, with an answer or an error, while its client still waits.",
                    AnswerLaws::callsEndOnce),
            Laws.timeless(
                    "tokens-in-order",
                    "No token comes twice, none is missing and none is out of order: an answer that ends well is whole,"
                            + " and one that ends with an error is a prefix of it.",
                    AnswerLaws::tokensInOrder),
            Laws.timeless(
                    "stream-errors-reach-client",
                    "A stream that broke behind the gateway does not look complete in front of it.",
                    AnswerLaws::streamErrorsReachClient),
            Laws.law(
                    "tokens-stream",
                    "Most long streams reach the client while the replica still sends, not after its last token.",
                    AnswerLaws::tokensStream),
            Laws.law(
                    "enough-answered",
                    "The share of calls that are answered whole is not below its bound.",
                    AnswerLaws::enoughAnswered),
            Laws.law("gateway-alive", "The gateway still answers after the scenario.", AnswerLaws::gatewayAlive),
            Laws.law(
                    "recovers-in-time",
                    "Calls that are sent later than the bound after the end of the last fault are answered whole.",
                    AnswerLaws::recoversInTime));

    private AnswerLaws() {}

    private static Judgement callsEndOnce(Judgement judgement) {
        for (var call : judgement.evidence.calls()) {
            if (call.ending() == Ending.TIMED_OUT) {
                long patienceNanos = judgement.evidence.bounds().patienceNanos();
                judgement.breach(call, "no end within the client's patience of " + Judgement.seconds(patienceNanos));
            } else if (call.ending() == Ending.MALFORMED && !isMalformedBehind(call, judgement)) {
                judgement.breach(call, "answer is malformed, and no replica had a fault then: " + call.error());
            }
        }
        return judgement;
    }

    /** A gateway that passes bytes on passes on broken ones, too, and the client sees that they are. */
    private static boolean isMalformedBehind(ClientCall call, Judgement judgement) {
        return judgement.attempts(call).stream()
                .anyMatch(attempt -> attempt.ending() != Attempt.Ending.COMPLETED
                        || judgement
                                .history(attempt.replica())
                                .isDisturbedWithin(attempt.acceptedNanos(), call.endNanos()));
    }

    private static Judgement tokensInOrder(Judgement judgement) {
        for (var call : judgement.evidence.calls()) {
            if (call.ending() == Ending.MALFORMED && isMalformedBehind(call, judgement)) {
                continue;
            }
            var expected = call.expected();
            var received = call.received();
            int numEqual = numEqual(expected, received);
            if (numEqual < received.size()) {
                String wanted = numEqual < expected.size() ? "\"" + expected.get(numEqual) + "\"" : "the end";
                judgement.breach(
                        call,
                        "token " + numEqual + " is \"" + received.get(numEqual) + "\" where " + wanted
                                + " should be; received " + received.size() + " of " + expected.size());
            } else if (call.ending() == Ending.COMPLETED && received.size() < expected.size()) {
                judgement.breach(call, "ended well with " + received.size() + " of " + expected.size() + " tokens");
            }
        }
        return judgement;
    }

    private static int numEqual(List<String> expected, List<String> received) {
        int most = Math.min(expected.size(), received.size());
        int count = 0;
        while (count < most && expected.get(count).equals(received.get(count))) {
            count++;
        }
        return count;
    }

    private static Judgement streamErrorsReachClient(Judgement judgement) {
        for (var call : judgement.evidence.calls()) {
            var attempts = judgement.attempts(call);
            if (call.ending() != Ending.COMPLETED || attempts.isEmpty()) {
                continue;
            }
            var last = attempts.get(attempts.size() - 1);
            if (last.ending() == Attempt.Ending.BROKEN_BY_FAULT
                    && call.received().size() < call.expected().size()) {
                judgement.breach(
                        call,
                        last.replica() + " broke off after " + last.bodyBytes()
                                + " bytes, and the client got a complete answer of "
                                + call.received().size() + " of "
                                + call.expected().size() + " tokens");
            }
        }
        return judgement;
    }

    /** A machine that stands still for a moment holds some streams back, and a gateway that does so, most of them. */
    private static Judgement tokensStream(Judgement judgement) {
        int numJudged = 0;
        var held = new ArrayList<Runnable>();
        for (var call : judgement.evidence.calls()) {
            var attempts = judgement.attempts(call);
            if (!call.isStreamed() || call.ending() != Ending.COMPLETED || attempts.isEmpty()) {
                continue;
            }
            var last = attempts.get(attempts.size() - 1);
            if (last.firstBodyByteNanos() >= 0 && last.endNanos() - last.firstBodyByteNanos() >= SHORT_STREAM_NANOS) {
                numJudged++;
                if (call.firstTokenNanos() > last.endNanos()) {
                    long lateNanos = call.firstTokenNanos() - last.firstBodyByteNanos();
                    held.add(() -> judgement.breach(
                            call,
                            "first token came " + Judgement.seconds(lateNanos) + " after " + last.replica()
                                    + " sent it, behind the end of the stream"));
                }
            }
        }
        if (numJudged >= MIN_STREAMS && 2 * held.size() > numJudged) {
            held.forEach(Runnable::run);
        }
        return judgement;
    }

    private static Judgement enoughAnswered(Judgement judgement) {
        var counted = judgement.evidence.calls().stream()
                .filter(call -> call.ending() != Ending.LEFT_BY_CLIENT)
                .toList();
        long numWhole = counted.stream().filter(AnswerLaws::isWhole).count();
        double least = judgement.evidence.bounds().minSuccess();
        if (numWhole < least * counted.size()) {
            judgement.breach(
                    "",
                    "",
                    judgement.evidence.durationNanos(),
                    numWhole + " of " + counted.size() + " calls were answered whole, "
                            + Judgement.ratio((double) numWhole / counted.size()) + ", and the bound is "
                            + Judgement.ratio(least));
        }
        return judgement;
    }

    private static boolean isWhole(ClientCall call) {
        return call.ending() == Ending.COMPLETED && call.received().equals(call.expected());
    }

    private static Judgement gatewayAlive(Judgement judgement) {
        if (!judgement.evidence.isGatewayAlive()) {
            judgement.breach("", "", judgement.evidence.durationNanos(), "the gateway does not answer");
        }
        return judgement;
    }

    /** A fault that lasts to the end has no recovery: what is asked then is the share of calls that are answered. */
    private static Judgement recoversInTime(Judgement judgement) {
        long endNanos = -1;
        for (var history : judgement.histories()) {
            if (history.endsDisturbed()) {
                return judgement;
            }
            endNanos = Math.max(endNanos, history.lastDisturbanceEndNanos());
        }
        long boundNanos = judgement.evidence.bounds().recoveryNanos();
        for (var call : judgement.evidence.calls()) {
            if (endNanos >= 0
                    && judgement.inTimeNanos(endNanos, call.sentNanos()) > boundNanos
                    && call.ending() != Ending.LEFT_BY_CLIENT
                    && !isWhole(call)) {
                judgement.breach(
                        call,
                        "sent " + Judgement.seconds(call.sentNanos() - endNanos)
                                + " after the last fault's end, ended as " + call.ending() + " with status "
                                + call.status() + "; the bound is " + Judgement.seconds(boundNanos));
            }
        }
        return judgement;
    }

    /** Returns whether a status says that the request was done. */
    static boolean isSuccess(int status) {
        return status >= OK && status < MULTIPLE_CHOICES;
    }
}
