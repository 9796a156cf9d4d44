package understudy.chaos.gateway.reference;

import java.util.Locale;

/** A decision that the gateway gets wrong on purpose; all others stay right. */
public enum WrongDecision {
    /** None: the gateway keeps all laws. */
    NONE,
    /** A stream that breaks is begun again on another replica, behind the tokens that the client has. */
    RETRY_AFTER_FIRST_BYTE,
    /** No replica is probed, and one that fails is asked again at once. */
    NO_HEALTH_CHECK,
    /** A session stays on its first replica, whatever becomes of that. */
    STICKY_FOR_EVER,
    /** A replica that refuses with {@code Retry-After} is asked again at once, and the client is not told. */
    IGNORES_RETRY_AFTER,
    /** Prefixes are compared by characters of the body, of which the first ones are the same in each. */
    PREFIXES_BY_CHARACTERS,
    /** Requests go to the replicas in turn, wherever their prefixes are. */
    ROUND_ROBIN,
    /** A connection to a replica stays open behind its answer, and is not used again. */
    LEAKS_CONNECTIONS,
    /** A request goes on at its replica when its client has left. */
    RUNS_ON,
    /** A stream is passed on once it is whole. */
    BUFFERS_STREAMS,
    /** A stream that breaks is ended as if it were whole. */
    SWALLOWS_STREAM_ERRORS,
    /** A replica is taken for what it says, whatever its certificate is. */
    TRUSTS_ANY_CERTIFICATE,
    /** A replica must keep the certificate that it had at first. */
    PINS_FIRST_CERTIFICATE,
    /** A replica that sends nothing is waited for without a limit. */
    WAITS_FOR_EVER;

    /** Returns the name in lower case and with hyphens. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
