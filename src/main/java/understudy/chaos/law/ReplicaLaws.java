package understudy.chaos.law;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.Evidence;

/** Laws about which replica gets a request, and how often. */
final class ReplicaLaws {
    /** Time in which a gateway cannot yet have read what a replica has sent. */
    private static final long IN_FLIGHT_NANOS = 250_000_000L;

    /** Fewer requests per replica say little about the balance. */
    private static final int MIN_REQUESTS_PER_REPLICA = 10;

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;

    static final List<Law<Evidence>> ALL = List.of(
            Laws.law(
                    "only-ready-replicas",
                    "No request is sent to a replica that is dead, starting or draining, after the grace.",
                    ReplicaLaws::onlyReadyReplicas),
            Laws.law(
                    "retries-only-unsent",
                    "A call is sent to a second replica only if the first one sent no byte of an answer.",
                    ReplicaLaws::retriesOnlyUnsent),
            Laws.law(
                    "retry-after-honoured",
                    "A replica that says Retry-After is left alone for so long, and a client that is refused for it"
                            + " is told so.",
                    ReplicaLaws::retryAfterHonoured),
            Laws.law(
                    "prefix-affinity",
                    "The share of cached prompt tokens, out of the best possible, is not below its bound.",
                    ReplicaLaws::prefixAffinity),
            Laws.law(
                    "load-balanced",
                    "While all replicas serve, none gets more requests than the bound allows.",
                    ReplicaLaws::loadBalanced));

    private ReplicaLaws() {}

    private static Judgement onlyReadyReplicas(Judgement judgement) {
        long graceNanos = judgement.evidence.bounds().graceNanos();
        for (var attempt : judgement.evidence.attempts()) {
            var history = judgement.history(attempt.replica());
            long sinceNanos = history.notReadySince(attempt.acceptedNanos());
            if (sinceNanos >= 0 && judgement.inTimeNanos(sinceNanos, attempt.acceptedNanos()) > graceNanos) {
                judgement.breach(
                        attempt,
                        attempt.replica() + " was sent a request "
                                + Judgement.seconds(attempt.acceptedNanos() - sinceNanos)
                                + " after it had ceased to be ready ("
                                + history.stateAt(attempt.acceptedNanos()) + "); the grace is "
                                + Judgement.seconds(graceNanos));
            }
        }
        return judgement;
    }

    /**
     * RFC 9110, 9.2.2, forbids a proxy to repeat a POST, unless it knows that its meaning is idempotent. That of a
     * completion is, for as long as no part of an answer was given: it has no effect but the answer, and another one
     * would be as good. So refusals (Envoy's {@code retriable-status-codes}), failed connections ({@code
     * connect-failure}) and connections that broke before the head ({@code reset}) may be tried again, and nothing else.
     * What counts is what the replica sent, or where its connection broke, what had come to the client by then.
     */
    private static Judgement retriesOnlyUnsent(Judgement judgement) {
        var headNanos = new HashMap<String, Long>();
        judgement.evidence.calls().forEach(call -> headNanos.put(call.id(), call.headNanos()));
        for (var attempts : judgement.attemptsByCall()) {
            for (int i = 1; i < attempts.size(); i++) {
                var next = attempts.get(i);
                attempts.subList(0, i).stream()
                        .filter(earlier -> AnswerLaws.isSuccess(earlier.status())
                                && earlier.firstBodyByteNanos() >= 0
                                && earlier.firstBodyByteNanos() < next.acceptedNanos()
                                && !isCrossed(earlier, next, judgement)
                                && !isLost(earlier, next, headNanos.getOrDefault(next.callId(), -1L)))
                        .findFirst()
                        .ifPresent(earlier -> judgement.breach(
                                next,
                                "sent to " + next.replica() + " after " + earlier.replica() + " had begun an answer of "
                                        + earlier.bodyBytes() + " bytes"));
            }
        }
        return judgement;
    }

    /**
     * A connection that breaks may take with it what was sent on it, as a reset does: then a gateway has had a byte for sure
     * only if the client has.
     */
    private static boolean isLost(Attempt earlier, Attempt next, long headNanos) {
        boolean hasClientHead = headNanos >= 0 && headNanos < next.acceptedNanos();
        return earlier.ending() == Attempt.Ending.BROKEN_BY_FAULT && !hasClientHead;
    }

    /** A gateway that gives a replica up cannot know of a byte that is under way then. */
    private static boolean isCrossed(Attempt earlier, Attempt next, Judgement judgement) {
        return earlier.ending() == Attempt.Ending.LEFT_BY_GATEWAY
                && judgement.inTimeNanos(earlier.firstBodyByteNanos(), next.acceptedNanos()) < IN_FLIGHT_NANOS;
    }

    /** RFC 9110, 10.2.3: how long to wait before a follow-up request. To the replica, the gateway is the one who asks. */
    private static Judgement retryAfterHonoured(Judgement judgement) {
        var refusals = new HashMap<String, List<Attempt>>();
        for (var attempt : judgement.evidence.attempts()) {
            var earlier = refusals.computeIfAbsent(attempt.replica(), replica -> new ArrayList<>());
            // Any of them, so that who asks again and again does not seem to have just been told.
            earlier.stream()
                    .filter(refusal -> isTooSoon(refusal, attempt, judgement))
                    .findFirst()
                    .ifPresent(refusal -> judgement.breach(
                            attempt,
                            attempt.replica() + " was sent a request "
                                    + Judgement.seconds(attempt.acceptedNanos() - refusal.endNanos())
                                    + " after it had said Retry-After: "
                                    + refusal.retryAfterSeconds().orElseThrow()));
            if (isRefusalForAWhile(attempt)) {
                earlier.add(attempt);
            }
        }
        for (var call : judgement.evidence.calls()) {
            var attempts = judgement.attempts(call);
            boolean isRefusedForAWhile = call.ending() == ClientCall.Ending.REFUSED
                    && !attempts.isEmpty()
                    && isRefusalForAWhile(attempts.get(attempts.size() - 1));
            if (isRefusedForAWhile && call.retryAfterSeconds().isEmpty()) {
                judgement.breach(
                        call, "refused with status " + call.status() + " and without the replica's Retry-After");
            }
        }
        return judgement;
    }

    private static boolean isTooSoon(Attempt refusal, Attempt next, Judgement judgement) {
        boolean isUnderWay = judgement.inTimeNanos(refusal.endNanos(), next.acceptedNanos()) <= IN_FLIGHT_NANOS;
        long waitedNanos = next.acceptedNanos() - refusal.endNanos();
        return !isUnderWay && waitedNanos < retryAfterNanos(refusal) - IN_FLIGHT_NANOS;
    }

    private static boolean isRefusalForAWhile(Attempt attempt) {
        return (attempt.status() == TOO_MANY_REQUESTS || attempt.status() == UNAVAILABLE)
                && attempt.retryAfterSeconds().isPresent()
                && attempt.endNanos() >= 0;
    }

    private static long retryAfterNanos(Attempt refusal) {
        return Duration.ofSeconds(refusal.retryAfterSeconds().orElseThrow()).toNanos();
    }

    /**
     * The best possible is what the session's earlier prompts have left in a cache: the longest of those whose answer had
     * begun before, on a replica that has served without a fault since. Prompts of a session share all of the shorter
     * one but for its end, so that the bound of a scenario must leave room for these ends and for whole blocks.
     */
    private static Judgement prefixAffinity(Judgement judgement) {
        var sessions = new HashMap<String, String>();
        judgement.evidence.calls().forEach(call -> sessions.put(call.id(), call.session()));
        var earlierBySession = new HashMap<String, List<Attempt>>();
        long cachedTokens = 0;
        long bestTokens = 0;
        for (var attempt : judgement.evidence.attempts()) {
            String session = sessions.getOrDefault(attempt.callId(), "");
            if (session.isEmpty() || attempt.promptTokens() < 0 || attempt.cachedTokens() < 0) {
                continue;
            }
            var earlier = earlierBySession.computeIfAbsent(session, name -> new ArrayList<>());
            long best = earlier.stream()
                    .filter(one -> isCached(one, attempt, judgement))
                    .mapToLong(one -> Math.min(one.promptTokens(), attempt.promptTokens()))
                    .max()
                    .orElse(0);
            bestTokens += best;
            cachedTokens += Math.min(attempt.cachedTokens(), best);
            earlier.add(attempt);
        }
        double least = judgement.evidence.bounds().minAffinity();
        if (cachedTokens < least * bestTokens) {
            judgement.breach(
                    "",
                    "",
                    judgement.evidence.durationNanos(),
                    cachedTokens + " of " + bestTokens + " prompt tokens that could be cached were, "
                            + Judgement.ratio((double) cachedTokens / bestTokens) + ", and the bound is "
                            + Judgement.ratio(least));
        }
        return judgement;
    }

    private static boolean isCached(Attempt earlier, Attempt now, Judgement judgement) {
        return earlier.firstBodyByteNanos() >= 0
                && earlier.firstBodyByteNanos() <= now.acceptedNanos()
                && judgement.history(earlier.replica()).servesThrough(earlier.acceptedNanos(), now.acceptedNanos());
    }

    private static Judgement loadBalanced(Judgement judgement) {
        var counts = new LinkedHashMap<String, Integer>();
        judgement.evidence.replicas().forEach(replica -> counts.put(replica, 0));
        long graceNanos = judgement.evidence.bounds().graceNanos();
        for (var attempt : judgement.evidence.attempts()) {
            if (allServe(judgement, attempt.acceptedNanos() - graceNanos, attempt.acceptedNanos())) {
                counts.merge(attempt.replica(), 1, Integer::sum);
            }
        }
        int total = counts.values().stream().mapToInt(Integer::intValue).sum();
        if (total < MIN_REQUESTS_PER_REPLICA * counts.size()) {
            return judgement;
        }
        double mean = (double) total / counts.size();
        double bound = judgement.evidence.bounds().maxImbalance();
        counts.forEach((replica, count) -> {
            if (count > bound * mean) {
                judgement.breach(
                        "",
                        replica,
                        judgement.evidence.durationNanos(),
                        replica + " got " + count + " of " + total + " requests, " + Judgement.ratio(count / mean)
                                + " times the mean, and the bound is " + Judgement.ratio(bound));
            }
        });
        return judgement;
    }

    private static boolean allServe(Judgement judgement, long fromNanos, long toNanos) {
        for (var history : judgement.histories()) {
            if (!history.servesThrough(fromNanos, toNanos)) {
                return false;
            }
        }
        return true;
    }
}
