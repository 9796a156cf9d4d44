package understudy.chaos.law;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.Evidence;

/** Evidence under one law, sorted by call and by replica, and the breaches found so far. */
final class Judgement {
    final Evidence evidence;

    private final String law;
    private final Map<String, List<Attempt>> attemptsByCall = new LinkedHashMap<>();
    private final Map<String, ReplicaHistory> histories = new LinkedHashMap<>();
    private final List<Breach> breaches = new ArrayList<>();

    Judgement(String law, Evidence evidence) {
        this.law = law;
        this.evidence = evidence;
        for (var attempt : evidence.attempts()) {
            attemptsByCall
                    .computeIfAbsent(attempt.callId(), id -> new ArrayList<>())
                    .add(attempt);
        }
        for (String replica : evidence.replicas()) {
            histories.put(replica, ReplicaHistory.of(replica, evidence));
        }
    }

    /** Returns the attempts of a call, in the order in which they came. */
    List<Attempt> attempts(ClientCall call) {
        return attemptsByCall.getOrDefault(call.id(), List.of());
    }

    /** Returns the attempts by call, each call's in the order in which they came. */
    Iterable<List<Attempt>> attemptsByCall() {
        return attemptsByCall.values();
    }

    /** Returns the states of a replica over time; one that the evidence does not list is always up. */
    ReplicaHistory history(String replica) {
        return histories.computeIfAbsent(replica, name -> ReplicaHistory.of(name, evidence));
    }

    Iterable<ReplicaHistory> histories() {
        return histories.values();
    }

    /** Returns the time from one point to another, without what the machine was late in it. */
    long inTimeNanos(long fromNanos, long toNanos) {
        return toNanos - fromNanos - evidence.lateness().within(fromNanos, toNanos);
    }

    void breach(ClientCall call, String reason) {
        breach(call.id(), "", Math.max(call.endNanos(), call.sentNanos()), reason);
    }

    void breach(Attempt attempt, String reason) {
        breach(attempt.callId(), attempt.replica(), attempt.acceptedNanos(), reason);
    }

    void breach(String callId, String replica, long atNanos, String reason) {
        breaches.add(new Breach(law, callId, replica, atNanos, reason));
    }

    List<Breach> breaches() {
        return breaches.stream()
                .sorted(Comparator.comparingLong(Breach::atNanos))
                .toList();
    }

    /** Returns a duration as a reader sees it, such as {@code 1.50 s}. */
    static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
    }

    /** Returns a share or ratio as a reader sees it, such as {@code 0.75}. */
    static String ratio(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
