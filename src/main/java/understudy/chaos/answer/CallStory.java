package understudy.chaos.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import understudy.chaos.evidence.Attempt;
import understudy.chaos.evidence.ClientCall;
import understudy.chaos.evidence.Evidence;

/** What became of one call, in the order of time: the request, its route, the faults on it and its bytes. */
final class CallStory {
    private final List<Event> events = new ArrayList<>();

    /**
     * One event.
     *
     * @param who the client, or a replica
     */
    record Event(long atNanos, String who, String what) {}

    private CallStory() {}

    /** Returns the events of a call. */
    static List<Event> of(ClientCall call, Evidence evidence) {
        var story = new CallStory();
        story.tell(call);
        evidence.attempts().stream()
                .filter(attempt -> attempt.callId().equals(call.id()))
                .forEach(attempt -> story.tell(attempt, evidence));
        return story.events.stream()
                .sorted(Comparator.comparingLong(Event::atNanos))
                .toList();
    }

    private void tell(ClientCall call) {
        add(
                call.sentNanos(),
                "client",
                "sends a " + (call.isStreamed() ? "streamed " : "") + "request of tenant " + call.tenant()
                        + ", session " + call.session());
        add(call.headNanos(), "client", "gets status " + call.status() + retryAfter(call.retryAfterSeconds()));
        add(call.firstTokenNanos(), "client", "gets the first token");
        add(
                call.endNanos(),
                "client",
                "ends: " + Words.of(call.ending()) + ", " + call.received().size() + " of "
                        + call.expected().size() + " tokens" + (call.error().isEmpty() ? "" : ", " + call.error()));
    }

    private void tell(Attempt attempt, Evidence evidence) {
        String replica = attempt.replica();
        add(attempt.acceptedNanos(), replica, "gets the request on connection " + attempt.connection());
        add(attempt.firstBodyByteNanos(), replica, "sends the first byte with status " + attempt.status());
        add(
                attempt.endNanos(),
                replica,
                "ends: " + Words.of(attempt.ending()) + ", status " + attempt.status() + ", " + attempt.bodyBytes()
                        + " bytes" + retryAfter(attempt.retryAfterSeconds()));
        long toNanos = attempt.endNanos() < 0 ? evidence.durationNanos() : attempt.endNanos();
        evidence.phases().stream()
                .filter(phase -> phase.replica().equals(replica)
                        && !phase.fault().isEmpty()
                        && phase.fromNanos() <= toNanos
                        && phase.toNanos() > attempt.acceptedNanos())
                .forEach(phase -> add(
                        phase.fromNanos(), replica, "is " + Words.of(phase.state()) + " from here: " + phase.fault()));
    }

    private static String retryAfter(OptionalLong seconds) {
        return seconds.isPresent() ? ", Retry-After " + seconds.getAsLong() + " s" : "";
    }

    private void add(long atNanos, String who, String what) {
        if (atNanos >= 0) {
            events.add(new Event(atNanos, who, what));
        }
    }
}
