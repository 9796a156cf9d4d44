package understudy.chaos.autoscaler.law;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import understudy.chaos.autoscaler.evidence.Deadline;
import understudy.chaos.autoscaler.evidence.FaultPhase;
import understudy.chaos.autoscaler.evidence.ScaleCall;
import understudy.chaos.autoscaler.evidence.ScalingEvidence;
import understudy.chaos.law.Breach;
import understudy.chaos.law.Law;

/** The laws of autoscalers by name. */
public final class ScalingLaws {
    private static final long SECOND_NANOS = 1_000_000_000L;

    private static final Map<String, Named> BY_NAME = Stream.of(
                    new Named(
                            "replicas-within-bounds",
                            "Never are fewer replicas asked for than the minimum, or more than the maximum.",
                            ScalingLaws::replicasWithinBounds),
                    new Named(
                            "holds-without-metrics",
                            "While the metrics do not tell the load, the number of replicas stays as it is.",
                            ScalingLaws::holdsWithoutMetrics),
                    new Named(
                            "scales-up-in-time",
                            "Where the load asks for more replicas, they are wanted in time.",
                            (name, evidence) -> missed(name, evidence, true)),
                    new Named(
                            "scales-down-in-time",
                            "Where the load asks for fewer replicas, the others are given up in time.",
                            (name, evidence) -> missed(name, evidence, false)),
                    new Named(
                            "no-overshoot",
                            "No more replicas are wanted than the load asks for, however long the new ones take to start.",
                            ScalingLaws::noOvershoot),
                    new Named(
                            "no-flapping",
                            "The number of replicas does not go up and down more often than the bound allows.",
                            ScalingLaws::noFlapping),
                    new Named(
                            "serves-from-zero",
                            "Requests do not wait for longer than the bound while no replica is wanted.",
                            ScalingLaws::servesFromZero),
                    new Named(
                            "queue-drains",
                            "At the end no more requests are unfinished than the bound allows.",
                            ScalingLaws::queueDrains),
                    new Named(
                            "survives-api-errors",
                            "After a call of the scale subresource that failed, the next one comes within the bound.",
                            ScalingLaws::survivesApiErrors),
                    new Named(
                            "calls-in-measure",
                            "In no second does the scale subresource get more calls than the bound allows.",
                            ScalingLaws::callsInMeasure),
                    new Named(
                            "autoscaler-alive",
                            "The autoscaler still runs after the scenario.",
                            ScalingLaws::autoscalerAlive))
            .collect(Collectors.toMap(Named::name, Function.identity(), (one, other) -> one, LinkedHashMap::new));

    private interface Judge {
        List<Breach> judge(String law, ScalingEvidence evidence);
    }

    private record Named(String name, String statement, Judge judge) implements Law<ScalingEvidence> {
        /** A number out of bounds stays wrong, and a process ended, however late the machine is. */
        @Override
        public boolean dependsOnTime() {
            return !name.equals("replicas-within-bounds") && !name.equals("autoscaler-alive");
        }

        @Override
        public List<Breach> judge(ScalingEvidence evidence) {
            return judge.judge(name, evidence);
        }
    }

    private ScalingLaws() {}

    /** Returns the names of the laws, in the order of the manual. */
    public static List<String> names() {
        return List.copyOf(BY_NAME.keySet());
    }

    /** Returns the laws of these names, of which each must exist. */
    public static List<Law<ScalingEvidence>> named(List<String> names) {
        return BY_NAME.values().stream()
                .filter(law -> names.contains(law.name()))
                .<Law<ScalingEvidence>>map(law -> law)
                .toList();
    }

    private static List<Breach> replicasWithinBounds(String law, ScalingEvidence evidence) {
        int min = evidence.bounds().minReplicas();
        int max = evidence.bounds().maxReplicas();
        return evidence.calls().stream()
                .filter(call -> call.replicas().isPresent())
                .filter(call ->
                        call.replicas().getAsInt() < min || call.replicas().getAsInt() > max)
                .map(call -> breach(
                        law,
                        call.atNanos(),
                        "asked for " + call.replicas().getAsInt() + " replicas; allowed are " + min + " to " + max))
                .toList();
    }

    private static List<Breach> holdsWithoutMetrics(String law, ScalingEvidence evidence) {
        var breaches = new ArrayList<Breach>();
        for (var change : evidence.changes()) {
            evidence.faults().stream()
                    .filter(FaultPhase::isBlinding)
                    .filter(fault -> change.atNanos()
                                    > fault.fromNanos() + evidence.bounds().graceNanos()
                            && change.atNanos() < fault.toNanos())
                    .findFirst()
                    .ifPresent(fault -> breaches.add(breach(
                            law,
                            change.atNanos(),
                            "went from " + change.before() + " to " + change.after() + " replicas "
                                    + seconds(change.atNanos() - fault.fromNanos()) + " after " + fault.fault()
                                    + " had begun")));
        }
        return breaches;
    }

    private static List<Breach> missed(String law, ScalingEvidence evidence, boolean isUp) {
        return evidence.bounds().deadlines().stream()
                .filter(deadline -> deadline.isUp() == isUp && !isMet(deadline, evidence))
                .map(deadline -> breach(
                        law,
                        deadline.fromNanos() + deadline.withinNanos(),
                        "the load of " + seconds(deadline.fromNanos()) + " asks for "
                                + (isUp ? "at least " : "at most ") + deadline.replicas() + " replicas within "
                                + seconds(deadline.withinNanos()) + ", but " + wantedAt(evidence, deadline)
                                + " were wanted then"))
                .toList();
    }

    private static boolean isMet(Deadline deadline, ScalingEvidence evidence) {
        long endNanos = deadline.fromNanos() + deadline.withinNanos();
        return deadline.isMetBy(wantedAt(evidence, deadline))
                || evidence.changes().stream()
                        .anyMatch(change -> change.atNanos() > deadline.fromNanos()
                                && change.atNanos() <= endNanos
                                && deadline.isMetBy(change.after()));
    }

    private static int wantedAt(ScalingEvidence evidence, Deadline deadline) {
        int wanted = evidence.initialReplicas();
        for (var change : evidence.changes()) {
            if (change.atNanos() <= deadline.fromNanos() + deadline.withinNanos()) {
                wanted = change.after();
            }
        }
        return wanted;
    }

    private static List<Breach> noOvershoot(String law, ScalingEvidence evidence) {
        int most = evidence.bounds().mostReplicas();
        return evidence.changes().stream()
                .filter(change -> change.after() > most && change.after() > change.before())
                .map(change -> breach(
                        law,
                        change.atNanos(),
                        "went from " + change.before() + " to " + change.after() + " replicas; the load asks for "
                                + most + " at most"))
                .toList();
    }

    private static List<Breach> noFlapping(String law, ScalingEvidence evidence) {
        var breaches = new ArrayList<Breach>();
        int max = evidence.bounds().maxReversals();
        int numReversals = 0;
        int before = 0;
        for (var change : evidence.changes()) {
            int direction = Integer.signum(change.after() - change.before());
            if (before != 0 && direction != before && ++numReversals > max) {
                breaches.add(breach(
                        law,
                        change.atNanos(),
                        "went from " + change.before() + " to " + change.after() + " replicas, the " + numReversals
                                + ". change of direction; allowed are " + max));
            }
            before = direction;
        }
        return breaches;
    }

    private static List<Breach> servesFromZero(String law, ScalingEvidence evidence) {
        var breaches = new ArrayList<Breach>();
        long bound = evidence.bounds().zeroNanos();
        long sinceNanos = -1;
        for (var counts : evidence.counts()) {
            if (counts.wanted() > 0 || counts.ready() > 0 || counts.unfinished() == 0) {
                sinceNanos = -1;
            } else if (sinceNanos < 0) {
                sinceNanos = counts.atNanos();
            } else if (counts.atNanos() - sinceNanos > bound) {
                breaches.add(breach(
                        law,
                        counts.atNanos(),
                        counts.unfinished() + " requests wait, and for " + seconds(counts.atNanos() - sinceNanos)
                                + " no replica is wanted; the bound is " + seconds(bound)));
                break;
            }
        }
        return breaches;
    }

    private static List<Breach> queueDrains(String law, ScalingEvidence evidence) {
        var counts = evidence.counts();
        int max = evidence.bounds().maxUnfinished();
        if (counts.isEmpty() || counts.get(counts.size() - 1).unfinished() <= max) {
            return List.of();
        }
        var last = counts.get(counts.size() - 1);
        return List.of(breach(
                law, last.atNanos(), last.unfinished() + " requests are unfinished at the end; allowed are " + max));
    }

    private static List<Breach> survivesApiErrors(String law, ScalingEvidence evidence) {
        var breaches = new ArrayList<Breach>();
        var calls = evidence.calls();
        for (int i = 0; i < calls.size(); i++) {
            var call = calls.get(i);
            long limitNanos = call.atNanos() + evidence.bounds().retryNanos();
            long nextNanos = i + 1 < calls.size() ? calls.get(i + 1).atNanos() : evidence.durationNanos();
            if (call.isFailed() && nextNanos > limitNanos) {
                breaches.add(breach(
                        law,
                        limitNanos,
                        call.method() + " at " + seconds(call.atNanos()) + " got " + answer(call)
                                + ", and no call came in "
                                + seconds(evidence.bounds().retryNanos())));
            }
        }
        return breaches;
    }

    private static String answer(ScaleCall call) {
        return call.status() == 0 ? "no answer" : "status " + call.status();
    }

    private static List<Breach> callsInMeasure(String law, ScalingEvidence evidence) {
        int max = evidence.bounds().maxCallsPerSecond();
        var calls = evidence.calls();
        for (int i = max; i < calls.size(); i++) {
            long atNanos = calls.get(i).atNanos();
            if (atNanos - calls.get(i - max).atNanos() < SECOND_NANOS) {
                return List.of(breach(law, atNanos, "more than " + max + " calls came within a second"));
            }
        }
        return List.of();
    }

    private static List<Breach> autoscalerAlive(String law, ScalingEvidence evidence) {
        return evidence.isAutoscalerAlive()
                ? List.of()
                : List.of(breach(law, evidence.durationNanos(), "the autoscaler has ended"));
    }

    private static Breach breach(String law, long atNanos, String reason) {
        return new Breach(law, "", "", atNanos, reason);
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
    }
}
