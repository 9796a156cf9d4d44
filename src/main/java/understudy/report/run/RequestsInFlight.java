package understudy.report.run;

import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import understudy.report.Outcome;
import understudy.report.RequestRecord;

/** Requests in flight: facts about each of them besides its record, until it ends. */
public final class RequestsInFlight {
    private final Long2ObjectOpenHashMap<Known> known = new Long2ObjectOpenHashMap<>();

    private static final class Known {
        private @Nullable Supplier<String> reason;
        private final List<RequestPhase> loads = new ArrayList<>(0);
        private @Nullable RequestRecord leg;
    }

    /** The router has chosen a replica; the reason is computed only when it is read. */
    public void routed(long requestId, Supplier<String> reason) {
        known.computeIfAbsent(requestId, id -> new Known()).reason = reason;
    }

    /** KV was on its way to a request. */
    public void loaded(long requestId, long startNanos, long endNanos) {
        var request = known.get(requestId);
        if (request != null) {
            request.loads.add(new RequestPhase(RequestPhase.Kind.LOADING, startNanos, endNanos));
        }
    }

    /** Returns the story of a request that has ended, or null if its prompt was computed for another replica. */
    public @Nullable Story ended(RequestRecord record) {
        if (record.outcome() == Outcome.PREFILL_LEG) {
            known.computeIfAbsent(record.requestId(), id -> new Known()).leg = record;
            return null;
        }
        var request = known.remove(record.requestId());
        return new Story(record, request == null ? new Known() : request);
    }

    /** Story that is told only if it is wanted. */
    public static final class Story {
        private final RequestRecord ended;
        private final Known known;

        private Story(RequestRecord ended, Known known) {
            this.ended = ended;
            this.known = known;
        }

        RequestRecord ended() {
            return ended;
        }

        /** Returns the phases, in order of time. */
        public List<RequestPhase> phases() {
            return RequestPhase.of(ended, known.leg, known.loads);
        }

        RequestStory tell() {
            return new RequestStory(ended, phases(), known.reason == null ? "" : known.reason.get());
        }
    }
}
