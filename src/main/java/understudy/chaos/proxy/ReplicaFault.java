package understudy.chaos.proxy;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Locale;
import java.util.Map;
import understudy.chaos.evidence.ReplicaPhase.State;

/**
 * Fault that a replica shows on the wire, whatever its engine does.
 *
 * @param kind what goes wrong
 * @param every of how many generations one is struck: 1 is all
 * @param afterEvents events of the stream, or parts of the body, that come whole before it strikes
 * @param status status of an answer that refuses
 * @param retryAfterSeconds header {@code Retry-After} of such an answer; 0 is none
 * @param delayMillis time before each part of a slow answer
 * @param series figures of {@code /metrics} that are replaced, by name; with {@link Kind#VANISHED_SERIES} those that
 *     are left out
 */
@RecordBuilder
public record ReplicaFault(
        Kind kind,
        int every,
        int afterEvents,
        int status,
        int retryAfterSeconds,
        int delayMillis,
        Map<String, String> series) {

    public ReplicaFault {
        series = Map.copyOf(series);
    }

    /** Returns a fault with the usual values. */
    public static ReplicaFault of(Kind kind) {
        return new ReplicaFault(kind, 1, 3, 503, 0, 50, Map.of());
    }

    /** Kind of fault. */
    public enum Kind {
        /** Connections are refused. */
        REFUSE(State.DEAD),
        /** Connections are accepted, and nothing is ever answered. */
        ZOMBIE(State.DEAD),
        /** Probes and metrics are answered, generations never are. */
        STUCK(State.STUCK),
        /** Streams begin, and then stand still. */
        STALL(State.STUCK),
        /** Probes say 503, and so do generations, as while weights are loaded. */
        WARMING(State.STARTING),
        /** Probes say 503, generations under way go on, and new ones get a 503. */
        DRAIN(State.DRAINING),
        /** Generations get a status, perhaps with {@code Retry-After}. */
        STATUS(State.REFUSING),
        /** The connection is reset before the head of the response. */
        RESET(State.FAULTY),
        /** The connection is closed in the middle of the body. */
        CUT(State.FAULTY),
        /** The connection is reset in the middle of the body. */
        RESET_MID_STREAM(State.FAULTY),
        /** An event of the stream, or the body, is half of its JSON. */
        BROKEN_JSON(State.FAULTY),
        /** An event of the stream is not set apart from the next one. */
        BROKEN_SSE(State.FAULTY),
        /** Each part of the body comes late. */
        SLOW_BODY(State.FAULTY),
        /** A chunk is shorter than it says, and the connection closed behind it. */
        TRUNCATED_CHUNK(State.FAULTY),
        /** A kept connection is closed as soon as the next request on it comes. */
        CLOSE_KEPT(State.FAULTY),
        /** The stream ends without {@code [DONE]}, as a body that is whole. */
        NO_DONE(State.FAULTY),
        /** The adapter of a request is unknown. */
        NO_ADAPTER(State.FAULTY),
        /** New connections begin with another certificate of the same authority. */
        RENEWED_CERTIFICATE(State.UP),
        /** New connections begin with a certificate whose time is over. */
        EXPIRED_CERTIFICATE(State.UNTRUSTED),
        /** New connections begin with a certificate of another host. */
        MISNAMED_CERTIFICATE(State.UNTRUSTED),
        /** New connections begin with a certificate that no authority has signed. */
        SELF_SIGNED_CERTIFICATE(State.UNTRUSTED),
        /** {@code /v1/models} lists another model. */
        WRONG_MODELS(State.MISREPORTING),
        /** {@code /metrics} stays as it is. */
        STALE_METRICS(State.MISREPORTING),
        /** {@code /metrics} lacks some series. */
        VANISHED_SERIES(State.MISREPORTING),
        /** Counters of {@code /metrics} begin again at 0. */
        RESTARTED_COUNTERS(State.MISREPORTING),
        /** Figures of {@code /metrics} are others. */
        FALSE_METRICS(State.MISREPORTING),
        /** {@code /metrics} is asked, and never answers. */
        HUNG_METRICS(State.MISREPORTING),
        /** {@code /metrics} answers 500. */
        FAILED_METRICS(State.MISREPORTING),
        /** Dates are an hour ahead. */
        CLOCK_SKEW(State.MISREPORTING);

        private final State state;

        Kind(State state) {
            this.state = state;
        }

        /** Returns the state of a replica that has it. */
        public State state() {
            return state;
        }

        /** Returns whether it is one of TLS. */
        public boolean isOfTls() {
            return name().endsWith("_CERTIFICATE");
        }

        /** Returns the name that scenarios use. */
        public String written() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }
}
